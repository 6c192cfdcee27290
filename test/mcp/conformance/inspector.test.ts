// The MCP Inspector's command line as a client: it judges tool schemas by what model providers take (--strict), and
// has nothing to say about ours.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { binary, folder, project, state } from '../fixture.js';
import type { Run } from '../sidecar.js';
import { program } from './suite.js';

interface Said {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the Inspector on a server. */
async function inspect(t: TestContext, server: string[], ...options: string[]): Promise<Said> {
  const [node, script] = program('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const root = project(t);
  const child = spawn(node, [script, '--cli', ...options, ...server], { cwd: root, env: { ...process.env, ...state(t), HOME: folder(t) }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { status: null as number | null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => { said.stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { said.stderr += text; });
  said.status = await new Promise<number | null>((done) => child.on('close', done));
  return said;
}

const sidecar = [binary, 'mcp'];
const args = JSON.stringify({ language: 'bash', code: 'echo "from the inspector"; exit 3' });

for (const era of ['legacy', 'auto', 'modern']) {
  await test(`${era}: --strict finds nothing to say about our schemas`, async (t) => {
    const { status, stdout, stderr } = await inspect(t, sidecar, '--protocol-era', era, '--strict', '--method', 'tools/list');
    assert.deepEqual([status, stderr], [0, '']);
    const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
    assert.deepEqual(tools.map((tool) => tool.name), ['close_session', 'list_envs', 'list_sessions', 'run_code']);
  });

  await test(`${era}: runs code, without a word on the side`, async (t) => {
    const { status, stdout, stderr } = await inspect(t, sidecar, '--protocol-era', era, '--method', 'tools/call', '--tool-name', 'run_code', '--tool-args-json', args);
    assert.deepEqual([status, stderr], [0, '']);
    const { structuredContent: run } = JSON.parse(stdout) as { structuredContent: Run };
    assert.deepEqual([run.exitCode, run.stdout.text], [3, 'from the inspector\n']);
  });
}

await test('100 calls, 10 at a time', async (t) => {
  const { status, stdout } = await inspect(t, sidecar, '--method', 'tools/call', '--tool-name', 'run_code', '--tool-args-json', args, '--load', '--load-requests', '100');
  const { ok, toolErrors, errors } = JSON.parse(stdout) as { ok: number; toolErrors: number; errors: number };
  assert.deepEqual([status, ok, toolErrors, errors], [0, 100, 0, 0]);
});

await test('it does speak up about a careless schema', async (t) => {
  const { stderr } = await inspect(t, [process.execPath, join(import.meta.dirname, 'careless.js')], '--strict', '--method', 'tools/list');
  assert.match(stderr, /inputSchema\.properties\.words/);
});
