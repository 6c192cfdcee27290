// Real agents run code through `sidecar mcp`: each in a linked worktree with a space in its path, each with its own
// way to say where it is, and each has to hand its model the whole result. Their models are stand-ins.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import test, { type TestContext } from 'node:test';
import { freshFolder, freshProject, git, remove } from '../mcp/project.js';
import { type Agent, agents, commandOf, type Scene, textsIn } from './agents.js';
import { type Json, Model } from './model.js';

const { SIDECAR_BIN, AGENTS } = process.env;
if (!SIDECAR_BIN) throw new Error('set SIDECAR_BIN to the sidecar binary under test');
const binary = resolve(process.env.INIT_CWD ?? '.', SIDECAR_BIN);
const chosen = AGENTS?.split(' ').filter(Boolean) ?? [];
for (const name of chosen) if (!agents[name]) throw new Error(`no agent is called ${name}: ${Object.keys(agents).join(', ')}`);

/** Prints 8 kB, which is as much as a model is to see uncut, and more than a line. */
const lines = Array.from({ length: 150 }, (_, i) => `line ${i + 1} of what the program prints: äöü "quoted"\n`).join('');
const code = `for i in {1..150}; do echo "line $i of what the program prints: äöü \\"quoted\\""; done
pwd; echo made >"made by an agent.txt"; git add . && git commit --quiet --message='By an agent' || exit 1
echo 'a word on the side' >&2; exit 3`;

function write(root: string, files: Record<string, string> = {}): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** A worktree beside its project, and an agent's home, in a folder that goes away. */
async function scene(t: TestContext, agent: Agent, model: Model): Promise<Scene> {
  const top = freshFolder('agent');
  t.after(() => { remove(top); });
  const main = freshProject(top, 'my project', { 'data.txt': 'x\n' });
  const workspace = join(top, 'my worktree');
  git(main, 'worktree', 'add', '--quiet', '-b', 'agents', workspace);
  const s = { home: join(top, 'home'), workspace, model: await model.listen(), sidecar: binary };
  t.after(() => model.close());
  mkdirSync(s.home);
  write(s.home, agent.home?.(s));
  write(s.workspace, agent.project?.(s));
  const said = execFileSync(binary, ['setup', ...agent.setup], { cwd: workspace, env: environment(agent, s), encoding: 'utf8' });
  assert.match(said, /^added to /);
  return s;
}

/** What is in an agent's environment, and so in that of `sidecar setup` before it. */
function environment(agent: Agent, s: Scene): NodeJS.ProcessEnv {
  return { HOME: s.home, PATH: `${dirname(s.sidecar)}:${process.env.PATH ?? ''}`, TERM: 'xterm', LANG: 'C.UTF-8', ...agent.env?.(s) };
}

/** Starts the agent and waits for its end. */
async function start(agent: Agent, s: Scene): Promise<{ status: number | null; output: string }> {
  const [program, ...args] = commandOf(agent, s);
  const child = spawn(program, args, { cwd: s.workspace, env: environment(agent, s), stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => { output += text; });
  return { status: await new Promise((done) => child.on('close', done)), output };
}

interface Structure {
  exitCode?: number;
  stdout?: { text: string };
  stderr?: { text: string };
  workspace?: string;
  workspaceSource?: string;
}

/** The structure among the texts that a model got; agents put words of their own around it. */
function structureIn(texts: string[]): Structure {
  for (const text of texts) {
    const from = text.indexOf('{"');
    if (from < 0) continue;
    try {
      return JSON.parse(text.slice(from)) as Structure;
    } catch {
      continue;
    }
  }
  return {};
}

function judge(agent: Agent, s: Scene, result: Json | undefined): void {
  const texts = textsIn(result);
  if (agent.sees === 'structure') {
    const { exitCode, stdout, stderr, workspace, workspaceSource } = structureIn(texts);
    assert.deepEqual({ exitCode, stdout: stdout?.text, stderr: stderr?.text, workspace, workspaceSource },
      { exitCode: 3, stdout: `${lines}${s.workspace}\n`, stderr: 'a word on the side\n', workspace: s.workspace, workspaceSource: agent.source });
    return;
  }
  const text = texts.join('\n');
  assert.ok(text.includes(`stdout:\n${lines}${s.workspace}\n`), `its model did not get the whole output: ${text}`);
  assert.ok(text.includes('stderr:\na word on the side\n'), text);
  assert.match(text, /^(.*\n)?exit status 3 after /);
  assert.ok(text.includes(`workspace ${s.workspace} from ${agent.source})`), text);
}

test('there is no network but loopback', () => {
  assert.deepEqual(Object.keys(networkInterfaces()), ['lo']);
});

for (const [name, agent] of Object.entries(agents)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  test(name, async (t) => {
    const model = new Model({ language: 'bash', code });
    const s = await scene(t, agent, model);
    const { status, output } = await start(agent, s);
    const about = `${output}\n${model.log.join('\n')}`;
    assert.equal(status, 0, about);
    assert.match(output, /all done/, about);
    assert.equal(model.results.length, 1, about);
    judge(agent, s, model.results[0]);
    // It was the worktree, and git worked there.
    assert.equal(readFileSync(join(s.workspace, 'made by an agent.txt'), 'utf8'), 'made\n');
    assert.equal(git(s.workspace, 'log', '--format=%s', '-1'), 'By an agent');
    assert.equal(git(join(s.workspace, '../my project'), 'log', '--format=%s', '-1'), 'Start');
  });
}
