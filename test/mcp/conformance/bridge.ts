// HTTP to stdio: the conformance suite speaks HTTP only, `sidecar mcp` stdio only. Messages pass as they are, both
// ways, except that a call of one of the suite's own tools becomes a call of ours (fixtures.ts). What HTTP adds –
// sessions, status codes, headers – is the bridge's, so checks of it say nothing about sidecar.
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asOurs } from './fixtures.js';
import { type Id, type Message, Server, type Start } from './server.js';

const version = 'io.modelcontextprotocol/protocolVersion';

/** A running bridge. */
export interface Bridge {
  url: string;
  close: () => Promise<void>;
}

/** Starts a bridge on loopback. */
export async function startBridge(start: Start): Promise<Bridge> {
  const sessions = new Sessions(start);
  const stateless = new Stateless(start);
  const http = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      console.error('bridge:', error);
      res.destroy();
    });
  });
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (!isLocal(req)) {
      res.writeHead(403).end();
      return;
    }
    const body = await bodyOf(req);
    const declared = meta(body)[version];
    // From 2026-07-28 on each request says which revision it is of; there are no sessions.
    if (body && (declared !== undefined || req.headers['mcp-protocol-version'] === '2026-07-28')) stateless.take(req, res, body, declared);
    else await sessions.take(req, res, body);
  };
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
      await Promise.all([sessions.close(), stateless.close()]);
    },
  };
}

/** Keeps web pages that have their name resolve to 127.0.0.1 from reaching the server. */
function isLocal(req: IncomingMessage): boolean {
  const local = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
  const { host = '', origin } = req.headers;
  return local.test(host) && (origin === undefined || local.test(origin.replace(/^https?:\/\//, '')));
}

async function bodyOf(req: IncomingMessage): Promise<Message | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) as Message : undefined;
}

function meta(message: Message | undefined): Record<string, unknown> {
  return (message?.params?._meta ?? {}) as Record<string, unknown>;
}

/** Revisions up to 2025-11-25: a server for each session, behind the official transport. */
class Sessions {
  private readonly known = new Map<string, StreamableHTTPServerTransport>();
  private readonly servers: Server[] = [];

  constructor(private readonly start: Start) {}

  async take(req: IncomingMessage, res: ServerResponse, body: Message | undefined): Promise<void> {
    const id = req.headers['mcp-session-id'];
    const transport = (typeof id === 'string' ? this.known.get(id) : undefined) ?? await this.open();
    await transport.handleRequest(req, res, body);
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
  }

  private async open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => { this.known.set(id, transport); },
    });
    const server = new Server(this.start, ['--workspace', this.start.cwd]);
    this.servers.push(server);
    // The transport wants to know on which request's stream a notification goes out.
    const requests = new Map<unknown, Id>();
    let last: Id | undefined;
    transport.onmessage = (m) => {
      const message = m as Message;
      if (message.id !== undefined && message.method !== undefined) {
        last = message.id;
        requests.set(meta(message).progressToken, message.id);
      }
      server.send(asOurs(message).message);
    };
    server.onmessage = (message) => {
      const related = message.method === undefined ? undefined : requests.get(message.params?.progressToken) ?? last;
      transport.send(message as JSONRPCMessage, related === undefined ? {} : { relatedRequestId: related })
        .catch((error: unknown) => { console.error('bridge: no stream for', message, error); });
    };
    transport.onclose = () => { void server.close(); };
    await transport.start();
    return transport;
  }
}

/** An open HTTP response to a request. */
interface Stream {
  message: Message;
  res: ServerResponse;
}

/** A server and who waits for it. */
interface Busy {
  server: Server;
  streams: Map<Id, Stream>;
  /** It serves one call only. */
  single: boolean;
}

/** Revision 2026-07-28: every request stands alone, and any server may take it; one that has its id in use may not. */
class Stateless {
  private readonly all: Busy[] = [];

  constructor(private readonly start: Start) {}

  take(req: IncomingMessage, res: ServerResponse, body: Message, declared: unknown): void {
    if (declared !== undefined && req.headers['mcp-protocol-version'] !== declared) {
      refuse(res, 400, body.id, -32020, 'the header MCP-Protocol-Version and the body differ');
      return;
    }
    const { message, asks } = asOurs(body);
    const busy = asks ? this.open([], true) : this.free(message.id);
    if (message.id === undefined) {
      busy.server.send(message);
      res.writeHead(202).end();
      return;
    }
    const id = message.id;
    busy.streams.set(id, { message, res });
    res.on('close', () => {
      // A stream that the client closes is a request that it cancels.
      if (busy.streams.delete(id)) busy.server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      if (busy.single) void busy.server.close();
    });
    busy.server.send(message);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((busy) => busy.server.close()));
  }

  private free(id: Id | undefined): Busy {
    const found = this.all.find((busy) => !busy.single && (id === undefined || !busy.streams.has(id)));
    return found ?? this.open(['--workspace', this.start.cwd], false);
  }

  private open(args: string[], single: boolean): Busy {
    const busy: Busy = { server: new Server(this.start, args), streams: new Map(), single };
    busy.server.onmessage = (message) => { deliver(busy, message); };
    this.all.push(busy);
    return busy;
  }
}

/** Hands a server's message to the response that waits for it. */
function deliver(busy: Busy, message: Message): void {
  const stream = message.method === undefined ? busy.streams.get(message.id ?? '') : streamOf(busy, message);
  if (!stream) {
    console.error('bridge: nobody waits for', message);
    return;
  }
  const { res } = stream;
  if (message.method !== undefined) {
    if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(event(message));
    return;
  }
  busy.streams.delete(stream.message.id ?? '');
  if (res.headersSent) res.end(event(message));
  else res.writeHead(statusOf(message), { 'content-type': 'application/json' }).end(JSON.stringify(message));
}

function streamOf(busy: Busy, notice: Message): Stream | undefined {
  const { progressToken } = notice.params ?? {};
  const subscription = meta(notice)['io.modelcontextprotocol/subscriptionId'];
  return [...busy.streams.values()].find(({ message }) =>
    (progressToken !== undefined && meta(message).progressToken === progressToken) || (subscription !== undefined && (message.id === subscription || String(message.id) === subscription)));
}

/** What HTTP's binding of the revision says for errors: method not found, a version not known, a request that lacks its _meta. */
function statusOf(message: Message): number {
  switch (message.error?.code) {
    case undefined: return 200;
    case -32601: return 404;
    case -32602: case -32021: case -32022: return 400;
    default: return 200;
  }
}

function refuse(res: ServerResponse, status: number, id: Id | undefined, code: number, text: string): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message: text } }));
}

const event = (message: Message): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
