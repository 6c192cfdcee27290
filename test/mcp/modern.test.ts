// The second official client (@modelcontextprotocol/client), which speaks revision 2026-07-28 too, against the real
// `sidecar mcp`: no initialize, roots through "input required".
import { Client } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import test, { type TestContext } from 'node:test';
import { afterwards, binary, eventually, processesWith, project, state, uniqueWord } from './fixture.js';
import type { Failure, Run } from './sidecar.js';

interface Modern {
  client: Client;
  asked: () => number;
  run: (args: Record<string, unknown>, onprogress?: (text: string) => void, signal?: AbortSignal) => Promise<{ isError: boolean; structured: Run & { error?: Failure } }>;
}

type Mode = 'auto' | 'legacy' | { pin: string };

async function modern(t: TestContext, mode: Mode, roots: string[] | null): Promise<Modern> {
  const transport = new StdioClientTransport({ command: binary, args: ['mcp'], stderr: 'inherit', cwd: '/', env: { ...getDefaultEnvironment(), ...state(t) } });
  const client = new Client({ name: 'modern-test', version: '1.0.0' }, { capabilities: roots ? { roots: { listChanged: true } } : {}, versionNegotiation: { mode } });
  let asked = 0;
  if (roots) {
    client.setRequestHandler('roots/list', () => {
      asked++;
      return { roots: roots.map((root) => ({ uri: pathToFileURL(root).href })) };
    });
  }
  await client.connect(transport);
  afterwards(t, () => client.close());
  const run: Modern['run'] = async (args, onprogress, signal) => {
    const result = await client.callTool({ name: 'run_code', arguments: args }, {
      ...(onprogress && { onprogress: (p: { message?: string | undefined }) => { onprogress(p.message ?? ''); } }),
      ...(signal && { signal }),
    });
    return { isError: result.isError === true, structured: result.structuredContent as Run & { error?: Failure } };
  };
  return { client, asked: () => asked, run };
}

for (const mode of ['auto', 'legacy', { pin: '2026-07-28' }] as Mode[]) {
  const name = typeof mode === 'string' ? mode : mode.pin;

  test(`${name}: runs code in the root of the client`, async (t) => {
    const root = project(t);
    const { client, run, asked } = await modern(t, mode, [root]);
    assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name), ['close_session', 'list_envs', 'list_sessions', 'run_code']);
    for (let i = 0; i < 3; i++) {
      const { structured } = await run({ language: 'bash', code: 'pwd' });
      assert.deepEqual([structured.stdout.text, structured.workspaceSource], [`${root}\n`, 'roots']);
    }
    assert.equal(asked(), 1, 'the answer holds for a while');
  });

  test(`${name}: says what to set when there are no roots`, async (t) => {
    for (const roots of [null, []]) {
      const { run } = await modern(t, mode, roots);
      const { isError, structured } = await run({ language: 'bash', code: 'pwd' });
      assert.equal(isError, true);
      assert.match(structured.error?.hint ?? '', /--workspace/);
    }
  });

  test(`${name}: progress and cancellation`, async (t) => {
    const word = uniqueWord();
    const { run } = await modern(t, mode, [project(t)]);
    const abort = new AbortController();
    let printed = '';
    const call = run({ language: 'bash', code: 'echo started; sleep 600', env: { WORD: word } }, (text) => { printed += text; }, abort.signal);
    await eventually('the run to start', () => printed.endsWith('started\n') && processesWith(word).length > 0);
    abort.abort('esc');
    await assert.rejects(call);
    await eventually('all processes to be gone', () => processesWith(word).length === 0);
    assert.equal((await run({ language: 'bash', code: 'echo on' })).structured.stdout.text, 'on\n');
  });
}
