// The official SDK as a client of `sidecar mcp`, with the few types that its results have here.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { pathToFileURL } from 'node:url';

/** What one stream of a run printed. */
export interface Output {
  text: string;
  bytes: number;
  truncated?: boolean;
  file?: string;
}

/** How a run ended: run_code's structured result. */
export interface Run {
  id: string;
  exitCode: number;
  signal?: string;
  limit?: string;
  cancelled?: boolean;
  stdout: Output;
  stderr: Output;
  seconds: number;
  workspace: string;
  workspaceSource: string;
  environment: string;
  interpreter?: string;
  denied?: { host: string; port?: number; why: string; setting?: string }[];
  session?: { name: string; call: number; lost?: string; ended?: string };
  findings?: { path: string; reason: string; action: string }[];
  notes?: string[];
  gaps?: string[];
}

/** Why there was no run. */
export interface Failure {
  kind: string;
  message: string;
  hint?: string;
}

/** list_envs' structured result. */
export interface Envs {
  environments: {
    id: string;
    provider: string;
    summary?: string;
    notBuilt?: boolean;
    packages?: string[];
    languages: { language: string; version?: string; program: string; via?: string }[];
    missing: { language: string; hint: string }[];
  }[];
  rules: string[];
  workspace: string;
}

/** What a tool call gives: isError with a failure, or a result. */
export interface Answer<T> {
  isError: boolean;
  text: string;
  /** How the program was started: "warm", "ready" or "cold". */
  start?: string;
  structured: T & { error?: Failure };
}

/** How a client is to be. */
export interface Options {
  /** Folders offered as roots; null declares no roots. */
  roots: string[] | null;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** The client's name, in the place of sidecar-test. */
  name?: string;
  /** Answers questions in the person's place; left out, the client shows no forms. */
  person?: Person;
}

/** A question as a client gets it. */
export interface Question {
  message: string;
  requestedSchema: { properties: Record<string, { enum?: string[]; oneOf?: { const: string; title: string }[] }> };
}

/** A person's answer as a client sends it. */
export interface Reply {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string>;
}

/** Who answers questions. signal tells that the answer is wanted no more. */
export type Person = (question: Question, signal: AbortSignal) => Promise<Reply> | Reply;

/** A connected client. */
export class Sidecar {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  roots: string[];

  private constructor(binary: string, options: Options) {
    this.roots = options.roots ?? [];
    this.client = new Client({ name: options.name ?? 'sidecar-test', version: '1.0.0' }, { capabilities: {
      ...(options.roots && { roots: { listChanged: true } }),
      ...(options.person && { elicitation: {} }),
    } });
    const { person } = options;
    if (person) this.client.setRequestHandler(ElicitRequestSchema, async (request, extra) => ({ ...await person(request.params as unknown as Question, extra.signal) }));
    if (options.roots) {
      this.client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: this.roots.map((root) => ({ uri: pathToFileURL(root).href })) }));
    }
    this.transport = new StdioClientTransport({
      command: binary,
      args: ['mcp', ...(options.args ?? [])],
      env: { ...getDefaultEnvironment(), ...options.env },
      stderr: 'inherit',
      cwd: options.cwd ?? '/',
    });
  }

  /** Starts the server and introduces itself. */
  static async connect(binary: string, options: Options): Promise<Sidecar> {
    const sidecar = new Sidecar(binary, options);
    await sidecar.client.connect(sidecar.transport);
    return sidecar;
  }

  /** Offers other roots from now on. */
  async offer(roots: string[]): Promise<void> {
    this.roots = roots;
    await this.client.sendRootsListChanged();
  }

  /** Calls run_code; progress hears what the run prints while it lasts. */
  async run(args: Record<string, unknown>, progress?: (text: string) => void, signal?: AbortSignal): Promise<Answer<Run>> {
    return this.call<Run>('run_code', args, progress, signal);
  }

  /** Calls list_envs. */
  async envs(): Promise<Answer<Envs>> {
    return this.call<Envs>('list_envs', {});
  }

  /** Calls list_sessions. */
  async sessions(): Promise<Answer<{ sessions: { name: string; language: string; calls: number }[] }>> {
    return this.call('list_sessions', {});
  }

  /** Calls close_session. */
  async closeSession(session: string): Promise<Answer<{ closed: { name: string }[] }>> {
    return this.call('close_session', { session });
  }

  private async call<T>(name: string, args: Record<string, unknown>, progress?: (text: string) => void, signal?: AbortSignal): Promise<Answer<T>> {
    const result = await this.client.callTool({ name, arguments: args }, undefined, {
      ...(progress && { onprogress: (p) => { progress(p.message ?? ''); } }),
      ...(signal && { signal }),
      resetTimeoutOnProgress: true,
      timeout: 120_000,
    });
    const content = result.content as { type: string; text?: string }[];
    const start = result._meta?.['code.sidecar.dev/start'];
    return { isError: result.isError === true, ...(typeof start === 'string' && { start }), text: content.map((c) => c.text ?? '').join('\n'), structured: result.structuredContent as T & { error?: Failure } };
  }

  /** Ends the connection; the server ends with it. */
  async close(): Promise<void> {
    await this.client.close();
  }
}
