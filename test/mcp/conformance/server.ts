// A stdio server of MCP as a process: one JSON message a line. The official clients' transports would judge and
// trim what passes; here it must arrive as the server wrote it.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A request's id. */
export type Id = string | number;

/** A message of JSON-RPC. */
export interface Message {
  jsonrpc: '2.0';
  id?: Id;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** How servers are started. */
export interface Start {
  binary: string;
  /** The folder to start in, a project. */
  cwd: string;
  env: Record<string, string>;
}

/** One running `sidecar mcp`. */
export class Server {
  onmessage: (message: Message) => void = () => undefined;
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;

  constructor(start: Start, args: string[]) {
    const child = spawn(start.binary, ['mcp', ...args], { cwd: start.cwd, env: { ...process.env, ...start.env }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.ended = new Promise((done) => child.on('exit', done));
    createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (line) => { this.onmessage(JSON.parse(line) as Message); });
    this.child = child;
  }

  send(message: Message): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.child.stdin?.end();
    await this.ended;
  }
}
