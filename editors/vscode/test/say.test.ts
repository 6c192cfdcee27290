import assert from 'node:assert/strict';
import test from 'node:test';
import * as say from '../src/say';

test('times and sizes', () => {
  assert.deepEqual([61, 1500, 61_000, 7_260_000].map(say.elapsed), ['61 ms', '1.5 s', '1 min 01 s', '2 h 01 min']);
  assert.deepEqual([999, 1000, 2_500_000].map(say.size), ['999 B', '1.0 kB', '2.5 MB']);
});

test('how runs end', () => {
  const end = { exitCode: 0, durationMs: 61 };
  for (const [ending, words, isWell] of [
    [end, 'exit 0 in 61 ms', true],
    [{ ...end, exitCode: 3 }, 'exit 3 in 61 ms', false],
    [{ ...end, signal: 'SIGSEGV' }, 'SIGSEGV in 61 ms', false],
    [{ ...end, cancelled: true }, 'cancelled after 61 ms', false],
    [{ ...end, limit: 'memory' }, 'ended at the limit of memory in 61 ms', false],
    [{ ...end, error: { kind: 'internal', message: 'no\nway' } as const }, 'not done: no way', false],
  ] as const)
    assert.deepEqual([say.outcome(ending), say.isWell(ending)], [words, isWell]);
});

test('what others wrote is one line, and no link, icon or turn of direction', () => {
  assert.equal(say.line('a\nb\x1b[31m\u202ec\u2066'), 'a b [31m c');
  assert.equal(say.line('x'.repeat(400)).length, 300);
  assert.equal(say.message('[click](command:workbench.action.quit)'), '[click] (command:workbench.action.quit)');
  assert.equal(say.bar('$(bug)'), '$ (bug)');
});

test('what a run is, what it left, what it was refused', () => {
  assert.equal(say.what({ language: 'python', code: '\n  \nprint(1)\nx' }), 'python: print(1)');
  assert.equal(say.what({ command: ['make', 'te\tst'] }), 'make te st');
  const finding = {
    path: '/p/sub/.envrc',
    reason: 'direnv',
    action: 'disarmed',
    movedTo: '/p/sub/.envrc.disarmed-1',
  } as const;
  assert.equal(say.finding(finding, '/p'), 'disarmed sub/.envrc: direnv; it is now sub/.envrc.disarmed-1');
  assert.equal(say.finding(finding, '/'), 'disarmed /p/sub/.envrc: direnv; it is now /p/sub/.envrc.disarmed-1');
  assert.equal(
    say.denial({ host: 'a.example', port: 443, method: 'GET', why: 'no rule', setting: 'network.x' }),
    'denied GET a.example:443: no rule (network.x would allow it)',
  );
  assert.equal(say.building({ stage: 'fetching', name: 'jq', done: 3, total: 12 }), 'fetching jq (3 of 12)');
});

test('questions and errors', () => {
  const q = { id: '1', run: 'r', client: 'agent', kind: 'network', subject: 'a:1', text: 'May it?' };
  assert.equal(say.question(q), 'agent asks: May it?');
  assert.equal(
    say.question({ ...q, writes: 'w', file: '/f' }),
    'agent asks: May it? (Always writes w to /f: every name below it, too, in every project)',
  );
  assert.equal(say.fault({ message: 'no', data: { hint: 'do this' } }), 'no: do this');
  assert.equal(say.fault({ message: 'no: do this', data: { hint: 'do this' } }), 'no: do this');
  assert.equal(say.fault('text'), 'text');
});
