// What the suite's scenario json-schema-2020-12 looks for in a fixture, looked for in our own schemas.
import assert from 'node:assert/strict';
import test from 'node:test';
import { binary, project, state } from '../fixture.js';
import { type Message, Server } from './server.js';

const requests: Record<string, Record<string, unknown>> = {
  '2025-11-25': {},
  '2026-07-28': { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } },
};

for (const [revision, params] of Object.entries(requests)) {
  await test(`${revision}: the keywords of JSON Schema 2020-12 arrive whole`, async (t) => {
    const server = new Server({ binary, cwd: project(t), env: state(t) }, []);
    t.after(() => server.close());
    const answer = new Promise<Message>((done) => { server.onmessage = done; });
    server.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
    const tools = (await answer).result?.tools as { name: string; inputSchema: Record<string, unknown>; outputSchema: Record<string, unknown> }[];
    const run = tools.find((tool) => tool.name === 'run_code');
    assert.ok(run);
    const { $defs, properties, anyOf } = run.outputSchema as { $defs: object; properties: { stdout: unknown }; anyOf: unknown[] };
    assert.deepEqual(Object.keys($defs), ['output', 'error']);
    assert.deepEqual(properties.stdout, { $ref: '#/$defs/output' });
    assert.equal(anyOf.length, 2);
    assert.equal(run.inputSchema.additionalProperties, false);
  });
}
