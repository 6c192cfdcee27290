import assert from 'node:assert/strict';
import test from 'node:test';
import { Queue } from '../src/queue';

/** What an update takes, as sources and sizes; what sidecar says itself as it is. */
const sizes = (q: Queue): string[] =>
  q.take().map((c) => `${c.source}: ${c.source === 'sidecar' ? c.text : c.text.length}`);

test('texts of one source are joined, in order', () => {
  const q = new Queue(100);
  q.add('stdout', 'a');
  q.add('stdout', 'b\n');
  q.add('stderr', 'c');
  q.add('stdout', '');
  q.add('sidecar', 'end\n');
  assert.deepEqual(q.take(), [
    { source: 'stdout', text: 'ab\n' },
    { source: 'stderr', text: 'c' },
    { source: 'sidecar', text: 'end\n' },
  ]);
  assert.ok(q.isEmpty);
});

test('what comes too fast is left out, the oldest first, and that is said', () => {
  const q = new Queue(1_000_000);
  for (let i = 0; i < 10; i++) q.add('stdout', 'x'.repeat(1024 * 1024));
  assert.deepEqual(sizes(q), ['sidecar: … 8.4 MB are left out here …\n', 'stdout: 131072']);
  assert.deepEqual(sizes(q), ['stdout: 131072']);
});

test('what the terminal would not keep is left out', () => {
  const q = new Queue(100);
  q.add('stderr', 'head\n');
  q.add('sidecar', 'kept\n');
  q.add('stdout', 'line\n'.repeat(150));
  q.add('stderr', 'tail');
  assert.deepEqual(sizes(q), ['sidecar: … 5 B are left out here …\nkept\n', 'stdout: 750', 'stderr: 4']);
});

test('an update is bounded in lines, and no character is cut in two', () => {
  const q = new Queue(10_000);
  q.add('stdout', 'line\n'.repeat(3000));
  assert.deepEqual([sizes(q), sizes(q), q.isEmpty], [['stdout: 10000'], ['stdout: 5000'], true]);
  q.add('stdout', 'x' + '😀'.repeat(100_000));
  const texts = [q.take(), q.take()].flat().map((c) => c.text);
  assert.ok(texts.length === 2 && texts.every((t) => t.isWellFormed()), texts.map((t) => t.length).join());
});

test('nothing is lost or doubled by the cutting', () => {
  const q = new Queue(1_000_000);
  const text = Array.from({ length: 30_000 }, (_, i) => `${i}\n`).join('');
  for (let i = 0; i < text.length; i += 7919) q.add('stdout', text.slice(i, i + 7919));
  let out = '';
  while (!q.isEmpty)
    out += q
      .take()
      .map((c) => c.text)
      .join('');
  assert.equal(out, text);
});
