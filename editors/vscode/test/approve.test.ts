import assert from 'node:assert/strict';
import test from 'node:test';
import { Approvals, offers } from '../src/approve';

const q = (id: string, run = 'r'): { id: string; run: string; kind: string; subject: string; text: string } => ({
  id,
  run,
  kind: 'network',
  subject: 's',
  text: `may ${id}?`,
});
const never = { onCancellationRequested: (): undefined => undefined };

/** Who is shown questions, and answers when told to. */
function person(): {
  asked: string[];
  answer: (word?: string) => void;
  show: (text: string) => Promise<string | undefined>;
} {
  const asked: string[] = [];
  let settle: (word?: string) => void = () => undefined;
  return {
    asked,
    answer: (word) => { settle(word); }, // prettier-ignore
    show: (text) => {
      asked.push(text);
      return new Promise((done) => (settle = done));
    },
  };
}

test('"always" is offered only where it writes something', () => {
  assert.deepEqual(offers(q('1')), ['Once', 'No']);
  assert.deepEqual(offers({ ...q('1'), writes: 'network.approved: [s]' }), ['Once', 'Always', 'No']);
});

test('questions are put one after the other', async () => {
  const p = person();
  const approvals = new Approvals(p.show);
  const answers = [
    approvals.ask(q('1'), never),
    approvals.ask({ ...q('2'), writes: 'w' }, never),
    approvals.ask(q('3'), never),
  ];
  assert.deepEqual([p.asked.length, approvals.waiting], [1, 3]);
  p.answer('Once');
  assert.equal(await answers[0], 'once');
  p.answer('Always');
  assert.equal(await answers[1], 'always');
  p.answer('Always'); // which was not offered
  assert.equal(await answers[2], undefined);
  assert.equal(approvals.waiting, 0);
});

test('a question that is put away is no answer; nor is one that is wanted no more, or whose run has ended', async () => {
  const p = person();
  const approvals = new Approvals(p.show);
  const away = approvals.ask(q('1'), never);
  p.answer();
  assert.equal(await away, undefined);
  let withdraw: () => void = () => undefined;
  const withdrawn = approvals.ask(q('2'), { onCancellationRequested: (tell) => (withdraw = tell) });
  const ended = approvals.ask(q('3', 'other'), never);
  const next = approvals.ask(q('4'), never);
  withdraw();
  approvals.ended('other');
  assert.deepEqual([await withdrawn, await ended], [undefined, undefined]);
  approvals.answer('4', 'no');
  assert.deepEqual([await next, approvals.waiting, p.asked.length], ['no', 0, 4]);
});

test('what is asked cannot become a link of the notification', async () => {
  const p = person();
  const approvals = new Approvals(p.show);
  const asked = approvals.ask({ ...q('1'), client: '[x](command:y)', text: 'a\n[b](command:c)' }, never);
  assert.deepEqual(p.asked, ['sidecar: [x] (command:y) asks: a [b] (command:c)']);
  p.answer('No');
  assert.equal(await asked, 'no');
});
