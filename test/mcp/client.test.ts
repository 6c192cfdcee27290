// The official SDK (@modelcontextprotocol/sdk, revisions up to 2025-11-25) against the real `sidecar mcp`.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { binary, connect, eventually, folder, processesWith, project, uniqueWord } from './fixture.js';
import { Sidecar } from './sidecar.js';

test('introduces itself and lists its tools with honest annotations', async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  assert.equal(sidecar.client.getServerVersion()?.name, 'sidecar');
  assert.ok(sidecar.client.getServerCapabilities()?.tools);
  const { tools } = await sidecar.client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ['close_session', 'list_envs', 'list_sessions', 'run_code']);
  const [, list, , run] = tools;
  assert.deepEqual([list?.annotations?.readOnlyHint, list?.annotations?.destructiveHint], [true, false]);
  assert.deepEqual([run?.annotations?.readOnlyHint, run?.annotations?.destructiveHint, run?.annotations?.openWorldHint], [false, false, false]);
  assert.ok(list?.outputSchema && run?.outputSchema);
});

test('lists environments', async (t) => {
  const root = project(t);
  const sidecar = await connect(t, { roots: [root] });
  const { structured, isError } = await sidecar.envs();
  assert.equal(isError, false);
  assert.equal(structured.workspace, root);
  assert.ok(structured.environments[0]?.languages.some((l) => l.language === 'bash'));
});

test('runs code in the root of the client', async (t) => {
  const root = project(t);
  const sidecar = await connect(t, { roots: [root] });
  const { structured: run, text, isError } = await sidecar.run({ language: 'bash', code: 'pwd; cat data.txt; echo made > made.txt; echo oops >&2' });
  assert.equal(isError, false);
  assert.equal(run.exitCode, 0, run.stderr.text);
  assert.equal(run.stdout.text, `${root}\nsix times seven\n`);
  assert.equal(run.stderr.text, 'oops\n');
  assert.deepEqual([run.workspace, run.workspaceSource], [root, 'roots']);
  assert.ok(text.includes('six times seven') && text.includes('oops') && text.includes(root));
  assert.equal(readFileSync(join(root, 'made.txt'), 'utf8'), 'made\n');
});

test('chooses among several roots, and only among them', async (t) => {
  const [one, two, other] = [project(t, 'one'), project(t, 'two'), project(t, 'other')];
  const sidecar = await connect(t, { roots: [one, two] });
  const where = async (workspace?: string): Promise<string> => (await sidecar.run({ language: 'bash', code: 'pwd', ...(workspace && { workspace }) })).structured.workspace;
  assert.equal(await where(), one);
  assert.equal(await where(two), two);
  assert.equal(await where('two'), two);
  const refused = await sidecar.run({ language: 'bash', code: 'touch x', workspace: other });
  assert.equal(refused.isError, true);
  assert.equal(refused.structured.error?.kind, 'bad_request');
  assert.ok(refused.text.includes(one) && refused.text.includes(two));
  assert.ok(!existsSync(join(other, 'x')));
});

test('follows roots that change, in the very next call', async (t) => {
  const [one, two] = [project(t, 'one'), project(t, 'two')];
  const sidecar = await connect(t, { roots: [one] });
  for (const root of [one, two, one, two]) {
    await sidecar.offer([root]);
    assert.equal((await sidecar.run({ language: 'bash', code: 'pwd' })).structured.stdout.text, `${root}\n`);
  }
});

test('runs nowhere when no workspace is known, and says what to set', async (t) => {
  for (const roots of [null, []]) {
    const sidecar = await connect(t, { roots });
    const { isError, structured } = await sidecar.run({ language: 'bash', code: 'pwd' });
    assert.equal(isError, true);
    assert.match(structured.error?.hint ?? '', /--workspace.*SIDECAR_WORKSPACE/);
  }
});

test('takes the workspace from flag, variables and working folder', async (t) => {
  const root = project(t);
  for (const [source, options] of Object.entries({
    '--workspace': { args: ['--workspace', root] },
    SIDECAR_WORKSPACE: { env: { SIDECAR_WORKSPACE: root } },
    CLAUDE_PROJECT_DIR: { env: { CLAUDE_PROJECT_DIR: root } },
    WORKSPACE_FOLDER_PATHS: { env: { WORKSPACE_FOLDER_PATHS: root } },
    'working folder': { cwd: root },
  })) {
    const sidecar = await connect(t, { roots: [], ...options });
    const { structured: run } = await sidecar.run({ language: 'bash', code: 'pwd' });
    assert.deepEqual([run.workspace, run.workspaceSource], [root, source]);
  }
});

test('a cancelled call ends its processes', async (t) => {
  const word = uniqueWord();
  const sidecar = await connect(t, { roots: [project(t)] });
  const abort = new AbortController();
  let printed = '';
  const call = sidecar.run({ language: 'bash', code: `echo started; (exec -a ${word} sleep 600) & (setsid -f sleep 601); wait`, env: { WORD: word } },
    (text) => { printed += text; }, abort.signal);
  await eventually('the run to start', () => printed.includes('started') && processesWith(word).length > 0);
  abort.abort('esc');
  await assert.rejects(call);
  await eventually('all processes to be gone', () => processesWith(word).length === 0);
  // The connection is as good as before.
  assert.equal((await sidecar.run({ language: 'bash', code: 'echo on' })).structured.stdout.text, 'on\n');
});

test('200 calls cancelled at once leave nothing', async (t) => {
  const word = uniqueWord();
  const sidecar = await connect(t, { roots: [project(t)] });
  await sidecar.envs();
  const calls = Array.from({ length: 200 }, async () => {
    const abort = new AbortController();
    const call = sidecar.run({ language: 'bash', code: 'sleep 600', env: { WORD: word } }, undefined, abort.signal);
    abort.abort('changed my mind');
    await assert.rejects(call);
  });
  await Promise.all(calls);
  assert.equal((await sidecar.run({ language: 'bash', code: 'echo on' })).structured.stdout.text, 'on\n');
  await eventually('all processes to be gone', () => processesWith(word).length === 0);
});

test('a client that goes away takes its runs with it', async (t) => {
  const word = uniqueWord();
  const sidecar = await Sidecar.connect(binary, { roots: [project(t)], env: { XDG_STATE_HOME: folder(t) } });
  const call = sidecar.run({ language: 'bash', code: 'sleep 600', env: { WORD: word } });
  await eventually('the run to start', () => processesWith(word).length > 0);
  await sidecar.close();
  // The answer may still come through before the connection is closed for good.
  const cancelled = await call.then((answer) => answer.structured.cancelled, () => true);
  assert.equal(cancelled, true);
  await eventually('all processes to be gone', () => processesWith(word).length === 0);
});

test('progress comes while the run lasts, in order, and all of it', async (t) => {
  const root = project(t);
  const sidecar = await connect(t, { roots: [root] });
  let text = '';
  let over = false;
  const call = sidecar.run({ language: 'bash', code: 'for i in {1..300}; do echo line $i; done; until [ -e go ]; do sleep 0.02; done; for i in {301..600}; do echo line $i; done; sleep 0.3' }, // the official clients drop progress that they read together with the result
    (part) => { assert.ok(!over); text += part; });
  const lines = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('');
  await eventually('the first half', () => text === lines(1, 300));
  await sidecar.run({ language: 'bash', code: 'touch go' });
  const { structured } = await call;
  over = true;
  assert.equal(text, lines(1, 600));
  assert.equal(structured.exitCode, 0);
});

test("a program's exit status is no tool error", async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  const { isError, structured, text } = await sidecar.run({ language: 'bash', code: 'echo no >&2; exit 7' });
  assert.deepEqual([isError, structured.exitCode, structured.stderr.text], [false, 7, 'no\n']);
  assert.match(text, /exit status 7/);
  const killed = await sidecar.run({ language: 'bash', code: 'kill -SEGV $$' });
  assert.deepEqual([killed.isError, killed.structured.exitCode, killed.structured.signal], [false, 139, 'SIGSEGV']);
});

test('errors say what to do', async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  for (const [args, kind, words] of [
    [{ language: 'pyhton', code: '1' }, 'bad_request', /pyhton.*python/s],
    [{ language: 'bash', coed: 'pwd' }, 'bad_request', /"coed" \(did you mean "code"\?\)/],
    [{ language: 'bash', code: 'pwd', env: { PORT: 80 } }, 'bad_request', /"PORT"/],
    [{ language: 'bash', code: 'pwd', cwd: '/etc' }, 'bad_request', /outside/],
    [{ language: 'bash', code: 'pwd', packages: ['jq'], environment: 'host' }, 'bad_request', /Nix/],
    [{ language: 'bash', code: 'pwd', packages: ['jq; rm -rf /'] }, /bad_request|backend_missing/, /package/],
    [{ language: 'bash', code: 'pwd', environment: 'hots' }, 'unknown_environment', /host/],
    [{ language: 'bash', code: 'pwd', files: ['/etc/passwd'] }, 'denied_by_policy', /setting/],
    [{ language: 'bash', code: 'pwd', timeout: 1e6 }, 'bad_request', /timeout/],
    [{ language: 'bash', code: 'echo \u0000' }, 'bad_request', /NUL/],
  ] as const) {
    const { isError, structured, text } = await sidecar.run(args);
    assert.equal(isError, true, JSON.stringify(args));
    assert.match(structured.error?.kind ?? '', new RegExp(kind));
    assert.match(text, words);
    assert.ok(text.startsWith(`${structured.error?.kind}: `));
  }
});

test('code over the limit is refused, and a message over 64 MiB too', async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  const large = await sidecar.run({ language: 'bash', code: `: ${'x'.repeat(50 << 20)}` });
  assert.equal(large.structured.error?.kind, 'bad_request');
  assert.match(large.text, /limit/);
  await assert.rejects(sidecar.run({ language: 'bash', code: `: ${'x'.repeat(70 << 20)}` }), /64 MiB/);
  assert.equal((await sidecar.run({ language: 'bash', code: 'echo on' })).structured.stdout.text, 'on\n');
});

test('long output is cut in the middle, and the whole is in a file', async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  const { structured: run, text } = await sidecar.run({ language: 'bash', code: 'seq 1 200000; seq 1 100000 >&2' });
  assert.equal(run.stdout.bytes, 1288895);
  for (const [output, last] of [[run.stdout, '200000\n'], [run.stderr, '100000\n']] as const) {
    assert.equal(output.truncated, true);
    assert.ok(output.text.startsWith('1\n2\n') && output.text.endsWith(last), output.text);
    assert.ok(output.file && output.text.includes(output.file));
    assert.equal(statSync(output.file).size, output.bytes);
    assert.ok(readFileSync(output.file, 'utf8').endsWith(last));
  }
  assert.ok(JSON.stringify(run).length < 11_000 && JSON.stringify(text).length < 11_000);
});

test('invalid UTF-8 arrives as U+FFFD', async (t) => {
  const sidecar = await connect(t, { roots: [project(t)] });
  const { structured } = await sidecar.run({ language: 'bash', code: String.raw`printf 'a\xffb\n'` });
  assert.equal(structured.stdout.text, 'a\uFFFDb\n');
});

test('standard input, arguments, variables and working folder reach the program', async (t) => {
  const root = project(t);
  const sidecar = await connect(t, { roots: [root] });
  await sidecar.run({ language: 'bash', code: 'mkdir "sub folder"' });
  const { structured: run } = await sidecar.run({
    language: 'bash', code: 'cat; echo "$1|$2|$WORD|${PWD##*/}"', stdin: 'from stdin\n', args: ['a b', '*'], env: { WORD: '$HOME "x"' }, cwd: 'sub folder',
  });
  assert.equal(run.stdout.text, 'from stdin\na b|*|$HOME "x"|sub folder\n', run.stderr.text);
  assert.equal((await sidecar.run({ language: 'bash', code: 'read x || echo end' })).structured.stdout.text, 'end\n');
});

test('a run over its time is ended, with what it printed', async (t) => {
  const word = uniqueWord();
  const sidecar = await connect(t, { roots: [project(t)] });
  const { isError, structured: run, text } = await sidecar.run({ language: 'bash', code: 'echo before; sleep 600', timeout: 2, env: { WORD: word } });
  assert.deepEqual([isError, run.limit, run.stdout.text], [false, 'time', 'before\n']);
  assert.match(text, /limit of time/);
  assert.equal(processesWith(word).length, 0);
});

test('runs go beside each other', async (t) => {
  const root = project(t);
  const sidecar = await connect(t, { roots: [root] });
  // Each waits for all others: they only end if they run at once.
  const runs = await Promise.all(Array.from({ length: 8 }, (_, i) => sidecar.run({
    language: 'bash', code: `touch here.${i}; until [ $(ls here.* | wc -l) = 8 ]; do sleep 0.02; done; echo ${i}`, timeout: 30,
  })));
  assert.deepEqual(runs.map((r) => r.structured.stdout.text), Array.from({ length: 8 }, (_, i) => `${i}\n`));
  assert.equal(basename(runs[0]?.structured.workspace ?? ''), 'my project');
});
