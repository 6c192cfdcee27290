// Sessions: interpreters that run_code keeps under a name, also for other clients of the workspace.
import assert from 'node:assert/strict';
import test from 'node:test';
import { connect, project, state } from './fixture.js';

test('keeps variables between calls, and for the next client', async (t) => {
  const [root, env] = [project(t), state(t)];
  const one = await connect(t, { roots: [root], env });
  const first = await one.run({ language: 'python', code: 'import json\nx = 41', session: 'analysis' });
  assert.deepEqual(first.structured.session, { name: 'analysis', call: 1 });
  const two = await connect(t, { roots: [root], env });
  const second = await two.run({ language: 'python', code: 'x += 1\njson.dumps(x)', session: 'analysis' });
  assert.equal(second.structured.stdout.text, "'42'\n", second.text);
  assert.equal(second.structured.session?.call, 2);
  assert.ok(second.text.includes('call 2 of session "analysis"'));
  const fresh = await two.run({ language: 'python', code: 'x' });
  assert.ok(fresh.structured.stderr.text.includes('NameError') && fresh.structured.session === undefined);
});

test('says when a session was lost, lists and closes sessions', async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  const args = { language: 'node', session: 's' };
  await sidecar.run({ ...args, code: 'let x = 1' });
  const failed = await sidecar.run({ ...args, code: 'nothing.there' });
  assert.deepEqual([failed.structured.exitCode, failed.structured.session?.call, failed.structured.session?.ended], [1, 2, undefined]);
  const interrupted = await sidecar.run({ ...args, code: 'for (;;);', timeout: 0.3 });
  assert.deepEqual([interrupted.structured.limit, interrupted.structured.session?.ended], ['time', undefined]);
  assert.equal((await sidecar.run({ ...args, code: 'x' })).structured.stdout.text, '1\n');
  const { structured: { sessions: [kept] } } = await sidecar.sessions();
  assert.deepEqual([kept?.name, kept?.language, kept?.calls], ['s', 'node', 4]);
  const ended = await sidecar.run({ ...args, code: 'process.exit(3)' });
  assert.deepEqual([ended.structured.exitCode, ended.structured.session?.ended], [3, 'its code ended it']);
  const next = await sidecar.run({ ...args, code: 'typeof x' });
  assert.deepEqual([next.structured.stdout.text, next.structured.session], ["'undefined'\n", { name: 's', call: 1, lost: 'its code ended it' }]);
  assert.deepEqual((await sidecar.closeSession('s')).structured.closed.map((s) => s.name), ['s']);
  const missing = await sidecar.closeSession('s');
  assert.deepEqual([missing.isError, missing.structured.error?.kind], [true, 'bad_request']);
});
