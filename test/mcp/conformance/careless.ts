// A server of MCP on stdio whose one tool has a schema that the Inspector finds fault with: what Go programs that
// reflect a slice into a schema say. It shows that the Inspector's silence about sidecar means something.
import { createInterface } from 'node:readline';
import type { Message } from './server.js';

const result = (m: Message): Record<string, unknown> | undefined => {
  switch (m.method) {
    case 'initialize': return { protocolVersion: m.params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'careless', version: '1' } };
    case 'tools/list': return { tools: [{ name: 'list', description: 'Lists.', inputSchema: { type: 'object', properties: { words: { type: ['null', 'array'], items: { type: 'string' } } } } }] };
    default: return undefined;
  }
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const m = JSON.parse(line) as Message;
  if (m.id === undefined) return;
  const found = result(m);
  console.log(JSON.stringify({ jsonrpc: '2.0', id: m.id, ...(found ? { result: found } : { error: { code: -32601, message: 'no such method' } }) }));
});
