// A stand-in for the models that agents talk to, on loopback: it asks for one call of run_code and then says that
// it is done. It speaks what the four agents speak, and keeps what they hand to their model.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** JSON of somebody else's making. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };

/** What has a name somewhere below. */
type Named = Record<string, Json | undefined>;

const fields = (value: Json | undefined): Named => (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {});
const list = (value: Json | undefined): Named[] => (Array.isArray(value) ? value.map(fields) : []);
const words = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** One of the protocols: how a call of the tool is asked for, and where the result is. */
interface Protocol {
  path: RegExp;
  /** The tools that the agent offers, by the names to call them. */
  tools: (body: Named) => Named[];
  /** The results of tool calls in a request, each as the agent wrote it. */
  results: (body: Named) => Json[];
  /** The answer: a call of tool, or without one a last word. */
  answer: (body: Named, tool: Named | undefined, args: string) => [event: string, data: Json][];
}

const said = 'all done';

const anthropic: Protocol = {
  path: /\/v1\/messages(\?|$)/,
  tools: (body) => list(body.tools),
  results: (body) => list(body.messages).flatMap((m) => list(m.content)).filter((c) => c.type === 'tool_result').map((c) => c.content ?? null),
  answer: (body, tool, args) => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    const [block, delta] = tool
      ? [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input: {} }, { type: 'input_json_delta', partial_json: args }]
      : [{ type: 'text', text: '' }, { type: 'text_delta', text: said }];
    return [
      ['message_start', { type: 'message_start', message }],
      ['content_block_start', { type: 'content_block_start', index: 0, content_block: block }],
      ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      ['message_delta', { type: 'message_delta', delta: { stop_reason: tool ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } }],
      ['message_stop', { type: 'message_stop' }],
    ];
  },
};

const responses: Protocol = {
  path: /\/responses$/,
  // The tools of a server can be gathered in a namespace.
  tools: (body) => list(body.tools).flatMap((t) => (t.type === 'namespace' ? list(t.tools).map((sub) => ({ ...sub, namespace: t.name })) : [t])),
  results: (body) => list(body.input).filter((item) => item.type === 'function_call_output').map((item) => item.output ?? null),
  answer: (_, tool, args) => {
    const item = tool
      ? { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: tool.name, ...(tool.namespace !== undefined && { namespace: tool.namespace }), arguments: args }
      : { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: said }] };
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    return [
      ['response.created', { type: 'response.created', response: { id: 'resp_1' } }],
      ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
      ['response.completed', { type: 'response.completed', response: { id: 'resp_1', usage } }],
    ];
  },
};

const chat: Protocol = {
  path: /\/chat\/completions$/,
  tools: (body) => list(body.tools).map((t) => fields(t.function)),
  results: (body) => list(body.messages).filter((m) => m.role === 'tool').map((m) => m.content ?? null),
  answer: (body, tool, args) => {
    const chunk = { id: 'c_1', object: 'chat.completion.chunk', created: 1, model: body.model };
    const delta = tool
      ? { role: 'assistant', tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: tool.name, arguments: args } }] }
      : { role: 'assistant', content: said };
    return [
      ['', { ...chunk, choices: [{ index: 0, delta }] }],
      ['', { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: tool ? 'tool_calls' : 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }],
    ];
  },
};

const gemini: Protocol = {
  path: /enerateContent/,
  tools: (body) => list(body.tools).flatMap((t) => list(t.functionDeclarations)),
  results: (body) => list(body.contents).flatMap((c) => list(c.parts)).filter((p) => p.functionResponse).map((p) => fields(p.functionResponse).response ?? null),
  answer: (_, tool, args) => {
    const part: Json = tool ? { functionCall: { name: tool.name, args: JSON.parse(args) as Json } } : { text: said };
    return [['', { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } }]];
  },
};

const protocols = [anthropic, responses, chat, gemini];

/** A stand-in that is listening. */
export class Model {
  /** What came back from the tool, as the agent handed it to its model. */
  readonly results: Json[] = [];
  /** What was asked for, for a person who looks into a failure. */
  readonly log: string[] = [];
  private server: Server | undefined;

  /** args are what run_code is to be called with. */
  constructor(private readonly args: Record<string, Json>) {}

  /** Listens on loopback; gives the address. */
  async listen(): Promise<string> {
    const server = createServer((req, res) => {
      this.take(req, res).catch((error: unknown) => {
        this.log.push(String(error));
        res.destroy();
      });
    });
    this.server = server;
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((done) => this.server?.close(done));
  }

  private async take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of req.setEncoding('utf8')) text += chunk as string;
    const url = req.url ?? '';
    const protocol = req.method === 'POST' && !/count_?tokens/i.test(url) ? protocols.find((p) => p.path.test(url)) : undefined;
    this.log.push(`${req.method ?? ''} ${url} ${text.length}`);
    if (!protocol) {
      res.writeHead(/count_?tokens/i.test(url) ? 200 : 404, { 'content-type': 'application/json' }).end('{"input_tokens":1,"totalTokens":1}');
      return;
    }
    const body = fields(JSON.parse(text) as Json);
    const results = protocol.results(body);
    this.results.push(...results.slice(this.results.length));
    const tool = results.length > 0 ? undefined : protocol.tools(body).find((t) => words(t.name).endsWith('run_code'));
    this.log.push(`  tools: ${protocol.tools(body).map((t) => words(t.name)).join(' ')}`);
    const events = protocol.answer(body, tool, JSON.stringify(this.args));
    if (protocol === gemini && !url.includes('stream')) {
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(events[0]?.[1]));
      return;
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [event, data] of events) res.write(`${event && `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
    res.end(protocol === chat ? 'data: [DONE]\n\n' : '');
  }
}
