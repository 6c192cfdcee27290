// What clients do by the hundred: calls that are cancelled at once, and bursts of output. Both official clients, in
// each way they have of speaking; what crossed the wire is judged as well as what the client made of it.
import { Client as Newer } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewerTransport } from '@modelcontextprotocol/client/stdio';
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { afterwards, binary, eventually, processesWith, project, sandboxesOf, state, uniqueWord } from './fixture.js';
import { type Run, Sidecar } from './sidecar.js';

const times = 200;

interface Message {
  id?: string | number;
  method?: string;
  params?: {
    requestId?: string | number;
    progressToken?: string | number;
    progress?: number;
    message?: string;
    arguments?: { code?: string };
    _meta?: { progressToken?: string | number };
  };
}

type Call = (args: Record<string, unknown>, onprogress?: (text: string) => void, signal?: AbortSignal) => Promise<Run | undefined>;

/** All that crossed the wire: '>' to the server, '<' from it. */
type Wire = { way: '>' | '<'; message: Message }[];

/** A connected client, its wire, and what is told of each message once it is sent. */
interface Wired {
  call: Call;
  wire: Wire;
  sent: { hear: (message: Message) => void };
}

/** What the two transports have in common. */
interface Transport {
  send: (message: never, options?: never) => Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** Notes down all that crosses a connected transport. */
function tap(transport: Transport): Omit<Wired, 'call'> {
  const wire: Wire = [];
  const sent: Wired['sent'] = { hear: () => undefined };
  const { send, onmessage } = transport;
  transport.send = async (message, options) => {
    wire.push({ way: '>', message });
    const written = send.call(transport, message, options);
    sent.hear(message);
    await written;
  };
  transport.onmessage = (message, extra) => {
    wire.push({ way: '<', message });
    onmessage?.call(transport, message, extra);
  };
  return { wire, sent };
}

const start = (t: TestContext, word = ''): { command: string; args: string[]; cwd: string; stderr: 'inherit'; env: Record<string, string> } => {
  const root = project(t);
  return { command: binary, args: ['mcp', '--workspace', root], cwd: '/', stderr: 'inherit', env: { ...getDefaultEnvironment(), ...state(t), SERVER_WORD: word, SIDECAR_PERFORMANCE_WARM: 'off' } }; // no sandbox waits
};

/** @modelcontextprotocol/sdk: initialize, 2025-11-25. */
async function older(t: TestContext, word?: string): Promise<Wired> {
  const transport = new OlderTransport(start(t, word));
  const client = new Older({ name: 'stress', version: '1' });
  await client.connect(transport);
  afterwards(t, () => client.close());
  return {
    ...tap(transport),
    call: async (args, onprogress, signal) => (await client.callTool({ name: 'run_code', arguments: args }, undefined, {
      ...(onprogress && { onprogress: (p) => { onprogress(p.message ?? ''); } }), ...(signal && { signal }),
    })).structuredContent as Run | undefined,
  };
}

/** @modelcontextprotocol/client, by itself (2026-07-28) or as an older one. */
const newer = (mode: 'auto' | 'legacy') => async (t: TestContext, word?: string): Promise<Wired> => {
  const transport = new NewerTransport(start(t, word));
  const client = new Newer({ name: 'stress', version: '2' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  afterwards(t, () => client.close());
  return {
    ...tap(transport),
    call: async (args, onprogress, signal) => (await client.callTool({ name: 'run_code', arguments: args }, {
      ...(onprogress && { onprogress: (p: { message?: string | undefined }) => { onprogress(p.message ?? ''); } }), ...(signal && { signal }),
    })).structuredContent as Run | undefined,
  };
};

const clients: Record<string, (t: TestContext, word?: string) => Promise<Wired>> = { 'sdk': older, 'client': newer('auto'), 'client, legacy': newer('legacy') };

/** When call i is cancelled, from the moment it is written: in the same breath, or up to when it has just started. */
function soon(i: number, act: () => void): void {
  switch (i % 4) {
    case 0: act(); break;
    case 1: void Promise.resolve().then(act); break;
    case 2: setImmediate(act); break;
    default: setTimeout(act, i % 40);
  }
}

/** The calls that were sent. */
const callsIn = (wire: Wire): Message[] => wire.filter(({ way, message }) => way === '>' && message.method === 'tools/call').map(({ message }) => message);

for (const [name, connect] of Object.entries(clients)) {
  test(`${name}: ${times} calls, each cancelled at once: none goes on, none is answered`, async (t) => {
    const [word, server] = [uniqueWord(), uniqueWord()];
    const { call, wire, sent } = await connect(t, server);
    for (let i = 0; i < times; i++) {
      const abort = new AbortController();
      sent.hear = ({ method }) => { if (method === 'tools/call') soon(i, () => { abort.abort('changed my mind'); }); };
      await assert.rejects(call({ language: 'bash', code: 'echo started; sleep 600', env: { WORD: word } }, () => undefined, abort.signal));
    }
    sent.hear = () => undefined;
    const calls = callsIn(wire).map((message) => message.id);
    const cancels = wire.filter(({ way, message }) => way === '>' && message.method === 'notifications/cancelled').map(({ message }) => message.params?.requestId);
    assert.equal(calls.length, times);
    assert.deepEqual(cancels, calls);
    // A cancel that got lost on the way may be made up for by somebody's patience that ends; that is too late.
    await eventually('all processes to be gone', () => processesWith(word).length === 0, 5_000);
    // A sandbox that was cancelled while it was being made runs nothing, and holds its run open all the same.
    await eventually('all sandboxes to be gone', () => sandboxesOf(server).length === 0);
    assert.equal((await call({ language: 'bash', code: 'echo on' }))?.stdout.text, 'on\n');
    // Whatever there was to say about the cancelled calls has been said by now, and whatever was to start has started.
    assert.deepEqual(processesWith(word), []);
    await eventually("the last call's sandbox to be gone, too", () => sandboxesOf(server).length === 0); // it is answered before
    assert.deepEqual(wire.filter(({ way, message }) => way === '<' && message.method === undefined && calls.includes(message.id)), []);
  });

  test(`${name}: ${times} bursts of output: all progress in order, ahead of the result, and whole`, async (t) => {
    const { call, wire } = await connect(t);
    const burst = async (i: number): Promise<void> => {
      // From one line to 3000, some 75 kB.
      const lines = 1 + (i * 37) % 3000;
      const code = `for ((n = 1; n <= ${lines}; n++)); do echo "burst ${i}, line $n: äöü"; done`;
      const printed = Array.from({ length: lines }, (_, n) => `burst ${i}, line ${n + 1}: äöü\n`).join('');
      let heard = '';
      const run = await call({ language: 'bash', code }, (text) => { heard += text; });
      assert.equal(run?.exitCode, 0);
      assert.equal(run.stdout.bytes, Buffer.byteLength(printed));
      const request = callsIn(wire).find((message) => message.params?.arguments?.code === code);
      const token = request?.params?._meta?.progressToken;
      const about = wire.map(({ message }) => message).filter((message) => message.params?.progressToken === token || (message.method === undefined && message.id === request?.id));
      const told = about.filter((message) => message !== request && message.method === 'notifications/progress');
      assert.equal(about.at(-1)?.method, undefined, 'progress came after the result');
      assert.ok(told.map((message) => message.params?.message).join('') === printed, `burst ${i}: the progress is not what was printed`);
      assert.ok(told.every((message, at) => at === 0 || (message.params?.progress ?? NaN) > (told[at - 1]?.params?.progress ?? NaN)), `burst ${i}: progress does not grow`);
      // The clients drop what they read in one go with the result, however early it was written: they take
      // notifications a turn later. So what they pass on is a beginning, without a hole.
      assert.ok(printed.startsWith(heard), `burst ${i}: what the client passed on has a hole`);
    };
    // Some beside each other, as agents call.
    for (let i = 0; i < times; i += 4) await Promise.all([i, i + 1, i + 2, i + 3].map(burst));
  });
}

test('a hundred runs leave no descriptor open', async (t) => {
  const { env, ...rest } = start(t);
  const word = uniqueWord();
  const sidecar = await Sidecar.connect(binary, { roots: null, args: rest.args.slice(1), env: { ...env, WORD: word } });
  afterwards(t, () => sidecar.close());
  const run = async (): Promise<void> => { assert.equal((await sidecar.run({ language: 'bash', code: 'echo once' })).structured.exitCode, 0); };
  // The server, and what it keeps running for itself.
  const open = (): number => processesWith(word).map((pid) => readdirSync(`/proc/${pid}/fd`).length).reduce((a, b) => a + b, 0);
  for (let i = 0; i < 5; i++) await run();
  const few = open();
  for (let i = 0; i < 100; i++) await run();
  await eventually(`no more than ${few} descriptors`, () => open() < few + 20);
});
