import assert from 'node:assert/strict';
import test from 'node:test';
import { Runs, isLive } from '../src/runs';

const run = (id: string, second: number): { id: string; started: string; client: string } => ({
  id,
  client: 'agent',
  started: `2026-11-29T20:15:0${second}Z`,
});
const end = { time: '2026-11-29T20:15:09Z', exitCode: 0, durationMs: 1, stdoutBytes: 0, stderrBytes: 0 };
const ids = (runs: Runs, live = false): string[] => runs.list(live).map((e) => e.run.id);

test('those that go on come first, then the newest', () => {
  const runs = new Runs();
  for (const [id, second] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ] as const)
    runs.update(run(id, second), '/p');
  runs.update({ ...run('b', 2), end }, '/p');
  runs.update({ ...run('c', 3), end }, '/p');
  assert.deepEqual([ids(runs), ids(runs, true)], [['a', 'c', 'b'], ['a']]);
  assert.equal(runs.newest((e) => e.run.id === 'b')?.run.id, 'b');
  assert.equal(runs.newest(() => false)?.run.id, 'a');
});

test('what is known of a run stays: its token, its end, its findings', () => {
  const runs = new Runs();
  runs.update({ ...run('a', 1), token: 't' }, '/p');
  runs.found('a', { path: '/p/x', reason: 'r', action: 'noticed' });
  assert.deepEqual(
    [runs.refused('a', { host: 'h', why: 'w' }), runs.refused('a', { host: 'i', why: 'w' })],
    [true, false],
  );
  runs.update({ ...run('a', 1), end }, '/p');
  runs.load([run('a', 1)], '/p');
  const a = runs.get('a');
  assert.deepEqual([a?.run.token, a?.run.end, a?.findings.length, a?.denied.length], ['t', end, 1, 2]);
});

test('runs of a sidecar that is gone have no end to wait for', () => {
  const runs = new Runs();
  runs.update(run('a', 1), '/p');
  runs.update(run('b', 2), '/q');
  assert.equal(runs.connection('/p', true), undefined);
  assert.equal(runs.connection('/p', false), true);
  assert.deepEqual([ids(runs, true), runs.get('a')?.gone, runs.connection('/p', true)], [['b'], true, false]);
  runs.lost();
  assert.deepEqual([ids(runs, true), [...runs.connected]], [[], [['/p', false]]]);
});

test('builds are known until they are done', () => {
  const runs = new Runs();
  const far = { id: 'a', environment: 'python3 with jq', stage: 'fetching', name: 'jq', done: 1, total: 2 };
  runs.update(run('a', 1), '/p');
  runs.building(far, '/p');
  assert.deepEqual(
    [...runs.builds.values()],
    [{ environment: 'python3 with jq', text: 'fetching jq (1 of 2)', workspace: '/p' }],
  );
  assert.equal(runs.get('a')?.building, 'fetching jq (1 of 2)');
  runs.building({ ...far, done: 2 }, '/p');
  assert.deepEqual([runs.builds.size, runs.get('a')?.building], [0, undefined]);
  runs.building(far, '/p');
  runs.update({ ...run('a', 1), end }, '/p');
  assert.deepEqual([runs.builds.size, runs.get('a')?.building], [0, undefined]);
});

test('questions belong to their run until they are answered', () => {
  const runs = new Runs();
  runs.update(run('a', 1), '/p');
  const q = { id: '1', run: 'a', kind: 'network', subject: 's', text: 't' };
  runs.asks(q);
  assert.deepEqual(runs.get('a')?.asks, [q]);
  runs.answered(q);
  assert.deepEqual(runs.get('a')?.asks, []);
});

test('their number is bounded, and live ones stay', () => {
  const runs = new Runs();
  runs.update({ ...run('live', 0), started: '2020-01-01T00:00:00Z' }, '/p');
  for (let i = 0; i < 600; i++) runs.update({ ...run(`r${i}`, 1), end }, '/p');
  const all = runs.list();
  assert.equal(all.length, 500);
  assert.ok(all[0] && isLive(all[0]));
});
