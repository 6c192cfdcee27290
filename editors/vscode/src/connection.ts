// The connection: one process of `sidecar lsp`, behind which are the sidecars of all folders of the window.
import { type ChildProcess, spawn } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { type CancellationToken, type ExtensionContext, type LogOutputChannel, commands, workspace } from 'vscode';
import {
  CloseAction,
  ErrorAction,
  type ExecuteCommandMiddleware,
  LanguageClient,
  State as ClientState,
} from 'vscode-languageclient/node';
import { type Found, find } from './binary';
import { Emitter } from './emitter';
import { type Placing, type Questions, type Requests, methods, protocolVersion } from './protocol';
import * as say from './say';
import { environment, settings } from './settings';

/** How it stands: not wanted yet, no folder, not trusted, no program, on its way, there, or not to be had. */
export type State = 'off' | 'empty' | 'restricted' | 'missing' | 'starting' | 'running' | 'failed';

/** Who hears what sidecars say. */
export interface Listener {
  approve: (question: Questions[typeof methods.approve]['params'], token: CancellationToken) => Promise<unknown>;
  executeCommand: NonNullable<ExecuteCommandMiddleware['executeCommand']>;
  /** showMessage shows a message of the server (1 error, 2 warning, 3 information). */
  showMessage: (type: number, text: string) => void;
  /** connected is called when the server has answered, lost when the process has ended. */
  connected: () => void;
  lost: () => void;
}

/** How long a process must have lived to be started again by itself, in ms. */
const tried = 2000;

/** The connection. */
export class Connection {
  state: State = 'off';
  /** why says what is wrong, in the states missing and failed. */
  why = '';
  /** program is the one that was found last. */
  program: string | undefined;
  readonly changed = new Emitter<undefined>();
  private client: LanguageClient | undefined;
  private child: ChildProcess | undefined;
  private starting: Promise<void> | undefined;
  private wanted = false;
  private notifications: Record<string, (params: unknown) => void> = {};

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: LogOutputChannel,
    private readonly listener: Listener,
  ) {}

  /** Has what sidecars say by themselves go to these, by method; before the start. */
  listen(notifications: Record<string, (params: unknown) => void>): void {
    this.notifications = notifications;
  }

  /** Looks for the program. */
  find(): Found {
    const found = find({
      setting: settings.path,
      path: process.env.PATH ?? '',
      home: homedir(),
      user: userInfo().username,
      extension: this.context.extensionPath,
      folders: (workspace.workspaceFolders ?? []).map((f) => f.uri.fsPath),
    });
    this.program = found.path;
    return found;
  }

  /** Starts the process if it does not run. It throws what the person is to be told. */
  async start(): Promise<void> {
    this.wanted = true;
    if (this.state === 'running') return;
    this.starting ??= this.begin().finally(() => (this.starting = undefined));
    await this.starting;
  }

  /** Ends the process; the sidecars live on. */
  async stop(): Promise<void> {
    this.wanted = false;
    await this.starting?.catch(() => undefined);
    const { client, child } = this;
    this.client = this.child = undefined;
    await client?.dispose(2000).catch(() => undefined);
    if (child?.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    this.become('off');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Asks something, and starts the process before if need be. */
  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Requests[M]['result']> {
    return this.send<Requests[M]['result']>(method, params);
  }

  /** Has the server execute one of its commands. */
  async execute<T>(command: string, argument: object): Promise<T> {
    return this.send<T>('workspace/executeCommand', { command, arguments: [argument] });
  }

  private async send<T>(method: string, params: Placing | object): Promise<T> {
    await this.start();
    if (!this.client) throw new Error('sidecar was stopped meanwhile');
    return this.client.sendRequest<T>(method, params);
  }

  private become(state: State, why = ''): void {
    this.state = state;
    this.why = why;
    void commands.executeCommand('setContext', 'sidecar.state', state);
    this.changed.fire(undefined);
  }

  private refuse(state: State, why: string): never {
    this.become(state, why);
    throw new Error(why);
  }

  private async begin(): Promise<void> {
    if (!workspace.isTrusted) this.refuse('restricted', 'the folder is not trusted, so sidecar starts nothing for it');
    if (!workspace.workspaceFolders?.some((f) => f.uri.scheme === 'file'))
      this.refuse('empty', 'sidecar serves the project of a folder: open one');
    const found = this.find();
    if (!found.path) this.refuse('missing', found.why ?? '');
    this.become('starting');
    const began = Date.now();
    const client = this.make(found.path);
    this.client = client;
    let said = '';
    try {
      await client.start();
      // The client's start succeeds also where the process ended just before it was asked anything.
      if (client.state !== ClientState.Running) throw new Error('it ended before it answered');
      this.child?.stderr?.on('data', (data: Buffer) => (said = (said + data.toString()).slice(-2000)));
    } catch (err) {
      const ended = await this.ending();
      this.refuse('failed', ended || `sidecar lsp refused: ${say.fault(err)}`);
    }
    this.become('running');
    client.onDidChangeState(({ newState }) => {
      if (newState === ClientState.Stopped && this.client === client) void this.lost(Date.now() - began);
    });
    this.listener.connected();
  }

  /** How the process ended, if it has: before it answered. */
  private async ending(): Promise<string> {
    const { child } = this;
    if (!child) return '';
    await exit(child);
    if (child.pid === undefined) return `${this.program ?? ''} could not be started`;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill();
      return '';
    }
    if (child.exitCode === 0) return '';
    return `sidecar lsp ended with ${how(child)} before it answered: is ${this.program ?? ''} older than this extension?`;
  }

  /** The process has ended by itself. One that worked for a while is started again; the sidecars live on. */
  private async lost(lived: number): Promise<void> {
    const child = this.child;
    this.client = undefined;
    this.listener.lost();
    if (child) await exit(child);
    const end = child ? how(child) : 'no word';
    if (!this.wanted) {
      this.become('off');
      return;
    }
    if (lived < tried) {
      this.become('failed', `sidecar lsp ended with ${end}`);
      this.listener.showMessage(1, `sidecar lsp ended with ${end}; the next command starts it again`);
      return;
    }
    this.become('off');
    this.listener.showMessage(2, `sidecar lsp ended with ${end}; starting it again`);
    await this.start().catch((err: unknown) => {
      this.listener.showMessage(1, say.fault(err));
    });
  }

  private make(program: string): LanguageClient {
    const client = new LanguageClient('sidecar', 'Sidecar', () => Promise.resolve(this.spawn(program)), {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
      outputChannel: this.log,
      initializationOptions: {
        protocol: protocolVersion,
        output: 'own',
        approvals: settings.approvals,
        lenses: settings.lenses,
        log: settings.logLevel,
      },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }), // it is started here
      },
      middleware: { executeCommand: this.listener.executeCommand },
    });
    // The view and the output show how a run goes, so there is no need of progress beside them.
    client.registerFeature({
      fillClientCapabilities: (c) => {
        c.window = { ...c.window, workDoneProgress: false };
      },
      initialize: () => undefined,
      getState: () => ({ kind: 'static' }),
      clear: () => undefined,
    });
    for (const [method, take] of Object.entries(this.notifications)) client.onNotification(method, take);
    client.onRequest(methods.approve, this.listener.approve);
    client.onNotification('window/showMessage', (p: { type: number; message: string }) => {
      this.listener.showMessage(p.type, p.message.replace(/^sidecar: /, ''));
    });
    return client;
  }

  private spawn(program: string): ChildProcess {
    const folder = workspace.workspaceFolders?.find((f) => f.uri.scheme === 'file');
    const child = spawn(program, ['lsp'], {
      cwd: folder?.uri.fsPath ?? homedir(),
      env: { ...process.env, ...environment() },
      stdio: 'pipe',
    });
    child.on('error', (err) => {
      this.log.error(`${program}: ${err.message}`);
    });
    this.child = child;
    return child;
  }
}

/** Waits for the end of a process that has closed its output, a little. */
async function exit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  await new Promise<void>((done) => {
    const timer = setTimeout(done, 2000);
    child.once('exit', () => {
      clearTimeout(timer);
      done();
    });
  });
}

function how(child: ChildProcess): string {
  return child.signalCode ? `signal ${child.signalCode}` : `status ${child.exitCode ?? 'unknown'}`;
}
