// Environments from Nix as an official MCP client has them: real Nix, an offline stand-in for nixpkgs, real sandboxes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before, type TestContext } from 'node:test';
import { binary, connect, eventually, folder, processesWith, project, state, uniqueWord } from './fixture.js';
import { cannot, Nixpkgs } from './nixpkgs.js';
import { git } from './project.js';
import type { Sidecar } from './sidecar.js';

const skip = cannot();
const word = uniqueWord();
let nix: Nixpkgs;

before(() => {
  if (skip !== false) return;
  nix = new Nixpkgs({
    sandbox: `sidecar.lib.mkSandbox { inherit pkgs; name = "sandbox"; interpreter_type = "python"; packages = [ (pkgs.python3.withPackages (ps: [ ps.tinytable ])) pkgs.jq ]; }`,
    loud: `pkgs.runCommand "loud" { } "for i in $(seq 1 100); do echo line $i; done; exit 3"`,
    slow: `pkgs.runCommand "${word}" { } "sleep 60; mkdir -p $out/bin"`,
  });
}, { timeout: 60_000 });
after(() => { if (skip === false) nix.remove(); });

/** What a shell tells of the store and of the system's own folders, without any other program. */
const look = String.raw`printf '%s\n' /nix/store/*; echo /bin/* /usr/* /usr/bin/* /lib* /sbin* /opt* /home/* /etc/ssh*`;
const seen = '/bin/sh /usr/bin /usr/bin/env /lib* /sbin* /opt*';

/** A client in a project of its own, with the person's settings. */
async function client(t: TestContext, root = project(t)): Promise<Sidecar> {
  return connect(t, { roots: [root], env: nix.env });
}

/** Runs code that prints a word and then what it sees: exactly the closure of its environment. */
async function closed(sidecar: Sidecar, expected: string, args: Record<string, unknown>): Promise<void> {
  const { structured: run, text } = await sidecar.run(args);
  assert.equal(run.exitCode, 0, text);
  const lines = run.stdout.text.trimEnd().split('\n');
  assert.equal(lines.shift(), expected);
  assert.ok(lines.pop()?.startsWith(seen), run.stdout.text);
  assert.deepEqual(lines.sort(), nix.closure(lines));
}

test('each language runs with a library or a tool, and sees the closure of its environment alone', { skip }, async (t) => {
  const sidecar = await client(t);
  for (const [language, packages, code, expected] of [
    ['python', ['python3Packages.tinytable'], `import os, tinytable; print(tinytable.Table([{"a": 7}]).sum("a"), flush=True); os.system(${JSON.stringify(look)})`, '7'],
    ['bash', ['ripgrep', 'jq'], `echo '{"a":7}' | jq .a | rg 7; ${look}`, '7'],
    ['node', [], `console.log(6 * 7); process.stdout.write(require("child_process").execSync(${JSON.stringify(look)}))`, '42'],
    ['perl', ['perlPackages.TinyTable'], `use TinyTable; $| = 1; print TinyTable::sum(3, 4), "\\n"; system(q(${look}))`, '7'],
    ['lua', ['lua5_4Packages.tinytable'], `print(require("tinytable").sum{3, 4}); io.flush(); os.execute([[${look}]])`, '7'],
    ['ruby', ['rubyPackages.tinytable'], `require "tinytable"; puts TinyTable.sum([3, 4]); $stdout.flush; system(%q(${look}))`, '7'],
  ] as const) {
    await t.test(language, async () => { await closed(sidecar, expected, { language, code, packages, environment: 'nix' }); });
  }
});

test("an environment of lib.mkSandbox, out of the person's flake", { skip }, async (t) => {
  const sidecar = await client(t);
  const listed = async () => (await sidecar.envs()).structured.environments.find((e) => e.id === 'sandbox');
  assert.equal((await listed())?.notBuilt, true);
  await closed(sidecar, '7', { language: 'python', environment: 'sandbox', code: `import os, tinytable; os.system("jq -n 7"); os.system(${JSON.stringify(look)})` });
  const now = await listed();
  assert.deepEqual([now?.notBuilt, now?.provider, now?.summary], [undefined, 'nix', `path:${nix.flake}#sandbox`]);
  assert.ok(now?.languages.some((l) => l.language === 'python' && l.program.startsWith('/nix/store/')));
});

const shell = 'pkgs.mkShell { packages = [ pkgs.jq pkgs.python3 ]; GREETING = "hello there"; }';

test("a project's dev shell, once a person trusted it, and only as it was then", { skip }, async (t) => {
  const root = project(t);
  const env = { ...state(t), ...nix.env };
  const sidecar = await connect(t, { roots: [root], env });
  writeFileSync(join(root, 'flake.nix'), nix.flakeOf(`
    devShells.x86_64-linux = { default = ${shell}; ci = pkgs.mkShell { packages = [ pkgs.tree ]; GREETING = "in ci"; }; };
    packages.x86_64-linux.tools = pkgs.buildEnv { name = "tools"; paths = [ pkgs.bash pkgs.coreutils pkgs.jq ]; };`));
  git(root, 'add', 'flake.nix');
  const args = { language: 'bash', environment: 'project', code: `echo "$GREETING" $(jq -n 7) $(python3 -c 'print(8)'); ${look}` };

  const refused = await sidecar.run(args);
  assert.deepEqual([refused.isError, refused.structured.error?.kind], [true, 'denied_by_policy']);
  assert.match(refused.text, /sidecar trust/);
  execFileSync(binary, ['--workspace', root, 'trust'], { env: { ...process.env, ...env } });
  await closed(sidecar, 'hello there 7 8', args);
  await closed(sidecar, 'in ci 7', { ...args, environment: 'project#ci', code: `tree --version >/dev/null && echo "$GREETING" 7; ${look}` });
  await closed(sidecar, '7', { ...args, environment: 'project#packages.tools', code: `jq -n 7; ${look}` });
  assert.match((await sidecar.run({ ...args, environment: 'project#nothing' })).text, /does not provide attribute.*nothing/s);
  assert.equal((await sidecar.envs()).structured.environments.find((e) => e.id === 'project')?.notBuilt, undefined);

  await sidecar.run({ language: 'bash', code: 'echo "# by a run" >>flake.nix' });
  assert.match((await sidecar.run(args)).text, /has changed since it was trusted/);
});

test("a project's shell.nix", { skip }, async (t) => {
  const root = project(t);
  const env = { ...state(t), ...nix.env };
  writeFileSync(join(root, 'shell.nix'), `{ pkgs ? import <nixpkgs> { } }: ${shell}`);
  execFileSync(binary, ['--workspace', root, 'trust'], { env: { ...process.env, ...env } });
  const sidecar = await connect(t, { roots: [root], env });
  await closed(sidecar, 'hello there 7', { language: 'bash', environment: 'project', code: `echo "$GREETING" $(jq -n 7); ${look}` });
});

test('however many ask for a new environment at once, it is built once, and all hear how far it is', { skip }, async (t) => {
  const clients = [await client(t), await client(t)];
  const before = nix.builds();
  const told = Array.from({ length: 6 }, () => '');
  const args = { language: 'bash', code: 'tree --version >/dev/null && echo there', packages: ['tree', 'file', 'bc'] };
  const runs = await Promise.all(told.map(async (_, i) => clients[i % clients.length]?.run(args, (text) => { told[i] = `${told[i] ?? ''}${text}`; })));
  for (const run of runs) assert.equal(run?.structured.stdout.text, 'there\n', run?.text);
  assert.equal(nix.builds() - before, 1);
  for (const text of told) assert.match(text, /\[environment bash with .*tree, file, bc: (evaluating|building|waiting|fetching)/);
  // What is built starts no nix.
  let again = '';
  await clients[0]?.run(args, (text) => { again += text; });
  assert.equal(nix.builds() - before, 1);
  assert.doesNotMatch(again, /environment/);
});

test('a build that is cancelled ends its builder, and the next call works', { skip }, async (t) => {
  const sidecar = await client(t);
  const abort = new AbortController();
  let told = '';
  const run = sidecar.run({ language: 'bash', code: 'true', environment: 'slow' }, (text) => { told += text; }, abort.signal);
  await eventually('the builder', () => processesWith(word).length > 0 && told.includes('building'), 60_000);
  abort.abort('esc');
  await assert.rejects(run);
  await eventually('its end', () => processesWith(word).length === 0);
  assert.equal((await sidecar.run({ language: 'bash', code: 'jq -n 7', packages: ['jq'] })).structured.stdout.text, '7\n');
});

test("an environment that Nix's garbage collector took is built again, and the run knows nothing of it", { skip }, async (t) => {
  const sidecar = await client(t);
  const args = { language: 'bash', environment: 'nix', packages: ['file'], code: 'echo $PATH' };
  const [path] = (await sidecar.run(args)).structured.stdout.text.split('/bin');
  const builds = nix.builds();
  nix.collect(path ?? '');
  const again = await sidecar.run(args);
  assert.equal(again.structured.stdout.text, `${path ?? ''}/bin\n`, again.text);
  assert.equal(nix.builds(), builds + 1);
});

test('a build that fails has the last 30 lines of its log in the error, and the whole in a resource', { skip }, async (t) => {
  const sidecar = await client(t);
  const { isError, structured, text } = await sidecar.run({ language: 'bash', code: 'true', environment: 'loud' });
  assert.deepEqual([isError, structured.error?.kind], [true, 'build_failed']);
  assert.deepEqual([...text.matchAll(/line (\d+)$/gm)].map((m) => Number(m[1])), Array.from({ length: 30 }, (_, i) => 71 + i));
  const { contents: [log] } = await sidecar.client.readResource({ uri: /sidecar:\/\/builds\/\S+/.exec(text)?.[0] ?? '' });
  assert.ok(log && 'text' in log && log.text.includes('line 1\n') && log.text.includes('line 100\n'));
});

test('an old nix, and a store that nobody may write, are said, and programs of the machine run all the same', { skip }, async (t) => {
  const old = folder(t);
  writeFileSync(join(old, 'nix'), '#!/bin/sh\necho "nix (Nix) 2.3.16"\n', { mode: 0o755 });
  for (const [env, words] of [
    [{ SIDECAR_NIX_PROGRAM: join(old, 'nix') }, /is 2\.3\.16, which has no flakes.*install 2\.4 or newer/s],
    [{ SIDECAR_NIX_STORE: '/dev/null/store' }, /the Nix store cannot be used/],
    [{ SIDECAR_NIX_PROGRAM: join(old, 'nowhere') }, /need Nix.*install Nix/s],
  ] as const) {
    const sidecar = await connect(t, { roots: [project(t)], env: { ...nix.env, XDG_CACHE_HOME: folder(t), ...env } });
    const refused = await sidecar.run({ language: 'bash', code: 'true', packages: ['jq'] });
    assert.deepEqual([refused.isError, refused.structured.error?.kind], [true, 'backend_missing'], refused.text);
    assert.match(refused.text, words);
    assert.equal((await sidecar.run({ language: 'bash', code: 'echo on' })).structured.stdout.text, 'on\n');
  }
});

test('what cannot be had is said with what to do, and the next call works', { skip }, async (t) => {
  const crooked = folder(t);
  writeFileSync(join(crooked, 'flake.nix'), nix.flakeOf('packages = {'));
  const sidecar = await connect(t, { roots: [project(t)], env: { ...nix.env, NIX_SANDBOX_ENVS: `${crooked}#crooked` } });
  for (const [args, kind, words] of [
    [{ packages: ['ripgrpe'] }, 'bad_request', /"ripgrpe" is not in path:.*did you mean ripgrep/s],
    [{ packages: ['python3Packages.tinytabel'] }, 'bad_request', /did you mean python3Packages\.tinytable/],
    [{ packages: ['unfreetool'] }, 'denied_by_policy', /unfree.*nix\.allow_unfree/s],
    [{ packages: ['python3Packages.brokenbuild'] }, 'build_failed', /this build always fails.*sidecar:\/\/builds\//s],
    [{ environment: 'crooked' }, 'build_failed', /syntax error/],
    [{ environment: 'sandbx' }, 'unknown_environment', /sandbox/],
  ] as const) {
    const { isError, structured, text } = await sidecar.run({ language: 'bash', code: 'true', ...args });
    assert.deepEqual([isError, structured.error?.kind], [true, kind], text);
    assert.match(text, words);
  }
  assert.equal((await sidecar.run({ language: 'bash', code: 'jq -n 7', packages: ['jq'] })).structured.stdout.text, '7\n');
});
