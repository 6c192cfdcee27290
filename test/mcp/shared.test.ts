// One sidecar for all clients of a workspace: an official MCP client and others beside it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createConnection, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { afterwards, binary, connect, eventually, processesWith, project, state, uniqueWord } from './fixture.js';
import { git } from './project.js';

/** A message of the sidecar's channel (docs/protocol.md). */
interface Message {
  id?: number;
  method?: string;
  params?: { id?: string; run?: { id: string; client?: string; end?: { cancelled?: boolean } }; text?: string; stream?: string };
  result?: unknown;
  error?: { code: number; message: string };
}

/** A client of the channel in a few lines, as an editor's plugin would have it. */
class Channel {
  readonly seen: Message[] = [];
  private next = 0;
  private read: Buffer = Buffer.alloc(0);

  constructor(private readonly socket: Socket) {
    socket.on('data', (data: Buffer) => {
      this.read = Buffer.concat([this.read, data]);
      this.take();
    });
  }

  /** Takes the whole messages out of what was read. */
  private take(): void {
    for (let end = this.read.indexOf('\r\n\r\n'); end >= 0; end = this.read.indexOf('\r\n\r\n')) {
      const length = Number(/Content-Length: (\d+)/.exec(this.read.subarray(0, end).toString())?.[1]);
      if (this.read.length < end + 4 + length) return;
      this.seen.push(JSON.parse(this.read.subarray(end + 4, end + 4 + length).toString()) as Message);
      this.read = this.read.subarray(end + 4 + length);
    }
  }

  /** Asks, and gives the answer's result. */
  async ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.next;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    this.socket.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.socket.write(body);
    await eventually(`an answer to ${method}`, () => this.seen.some((m) => m.id === id && m.method === undefined));
    const answer = this.seen.find((m) => m.id === id);
    assert.equal(answer?.error, undefined);
    return answer?.result;
  }

  /** Waits for a notification that fits. */
  async event(method: string, fits: (m: NonNullable<Message['params']>) => boolean = () => true): Promise<NonNullable<Message['params']>> {
    const find = (): Message | undefined => this.seen.find((m) => m.method === method && m.params !== undefined && fits(m.params));
    await eventually(method, () => find() !== undefined);
    return find()?.params ?? {};
  }
}

/** What `sidecar status --json` says of the sidecars that live. */
function status(env: Record<string, string>): { workspace: string; socket: string; pid: number; clients: { name: string }[]; runs: { client: string }[] }[] {
  return JSON.parse(execFileSync(binary, ['status', '--json'], { env: { ...process.env, ...env }, encoding: 'utf8' })) as ReturnType<typeof status>;
}

/** Connects to the sidecar of a workspace that lives. */
async function channel(t: TestContext, env: Record<string, string>, root: string): Promise<Channel> {
  const socket = createConnection(status(env).find((s) => s.workspace === root)?.socket ?? '');
  afterwards(t, () => { socket.destroy(); });
  const c = new Channel(socket);
  await c.ask('initialize', { processId: process.pid, rootUri: null, capabilities: {}, clientInfo: { name: 'an editor' } });
  return c;
}

test("a second client sees an agent's run start, print and end, and can cancel it", async (t) => {
  const [root, env, word] = [project(t), state(t), uniqueWord()];
  const agent = await connect(t, { roots: [root], env });
  await agent.run({ language: 'bash', code: 'true' });
  const editor = await channel(t, env, root);

  const run = agent.run({ language: 'bash', code: `echo to be seen; : ${word}; sleep 600` });
  const started = await editor.event('sidecar/runStarted');
  assert.match(started.run?.client ?? '', /^sidecar-test/);
  await editor.event('sidecar/output', (p) => p.stream === 'stdout' && (p.text ?? '').includes('to be seen'));

  const watch = spawn(binary, ['status', '--watch'], { env: { ...process.env, ...env } });
  afterwards(t, () => { watch.kill(); });
  let watched = '';
  watch.stdout.on('data', (data: Buffer) => { watched += data.toString(); });
  await eventually('status --watch shows both', () => watched.includes('client  an editor') && watched.includes('client  mcp') && watched.includes('to be seen'));

  await editor.ask('sidecar/cancel', { id: started.run?.id });
  const answer = await run;
  assert.equal(answer.structured.cancelled, true);
  assert.equal(answer.structured.stdout.text, 'to be seen\n');
  await editor.event('sidecar/runEnded', (p) => p.run?.end?.cancelled === true);
  await eventually('no process stays', () => processesWith(word).length === 0);
  await eventually('status --watch shows the end', () => watched.trimEnd().split('——').at(-1)?.includes('to be seen') === false);
});

test('two linked worktrees have two sidecars, and the client with both as roots reaches each', async (t) => {
  const [root, env] = [project(t), state(t)];
  const linked = join(dirname(root), 'a linked worktree');
  git(root, 'worktree', 'add', '--quiet', '-b', 'agent', linked);
  const agent = await connect(t, { roots: [root, linked], env });
  const commit = 'echo x > new.txt && git add new.txt && git commit -qm new && git branch --show-current';
  for (const [workspace, branch] of [[root, 'main'], [linked, 'agent']] as const) {
    const { structured: run, text } = await agent.run({ language: 'bash', code: commit, workspace });
    assert.equal(run.stdout.text.trim(), branch, text);
    assert.equal(run.workspace, workspace);
  }
  const sidecars = status(env).filter((s) => s.workspace === root || s.workspace === linked);
  assert.equal(new Set(sidecars.map((s) => s.pid)).size, 2);
  assert.equal(git(root, 'log', '--oneline', 'main..agent').split('\n').length, 1);
});

test('a sidecar that is killed in the middle of a run: a clear error, nothing stays, the next call works', async (t) => {
  const [root, env, word] = [project(t), state(t), uniqueWord()];
  const agent = await connect(t, { roots: [root], env });
  const run = agent.run({ language: 'bash', code: `: ${word}; echo begun > begun; sleep 600` });
  await eventually('it runs', () => git(root, 'status', '--short').includes('begun'));
  process.kill(status(env).find((s) => s.workspace === root)?.pid ?? 0, 'SIGKILL');
  const lost = await run;
  assert.equal(lost.isError, true);
  assert.equal(lost.structured.error?.kind, 'sidecar_gone');
  assert.match(lost.text, /ask again/);
  await eventually('no process stays', () => processesWith(word).length === 0);
  assert.doesNotMatch(execFileSync('ls', ['-A', join(root, '.git')], { encoding: 'utf8' }), /commondir/);
  assert.doesNotMatch(execFileSync('cat', ['/proc/self/mountinfo'], { encoding: 'utf8' }), new RegExp(word));
  const next = await agent.run({ language: 'bash', code: 'cat begun' });
  assert.equal(next.structured.stdout.text, 'begun\n');
});

test('the socket is the same with and without XDG_RUNTIME_DIR', async (t) => {
  const [root, env] = [project(t), state(t)];
  const agent = await connect(t, { roots: [root], env }); // the SDK passes no XDG_RUNTIME_DIR
  await agent.run({ language: 'bash', code: 'true' });
  execFileSync(binary, ['--workspace', root, 'run', '--', 'true'], { env: { ...process.env, ...env, XDG_RUNTIME_DIR: env.XDG_STATE_HOME } });
  assert.equal(status(env).filter((s) => s.workspace === root).length, 1);
});
