// Asking for runs, and what can be done with one.
import { type WorkspaceFolder, commands, env, window, workspace } from 'vscode';
import { type Connection } from './connection';
import type { Texts } from './texts';
import { type Outputs } from './output';
import { type RunRequest, type RunResult, methods } from './protocol';
import { type Entry, type Runs, isLive } from './runs';
import * as say from './say';

/** The argument of the server's command sidecar.run: what of which document. */
export interface What {
  uri: string;
  line?: number;
  range?: { start: Position; end: Position };
  above?: boolean;
  language?: string;
}

interface Position {
  line: number;
  character: number;
}

/** What was asked for, so that it can be asked for again. */
interface Asked {
  request: Pick<RunRequest, 'language' | 'code' | 'command' | 'cwd' | 'environment'>;
  workspace: string;
}

const remembered = 50;

/** What one does with runs. */
export class Asking {
  outputs!: Outputs;
  private readonly asked = new Map<string, Asked>();
  private count = 0;
  private readonly prefix = `vscode-${env.sessionId.slice(0, 8)}-${process.pid}`;

  constructor(
    private readonly connection: Connection,
    private readonly runs: Runs,
    private readonly texts: Texts,
  ) {}

  /** Whether this window asked for a run. */
  readonly isOwn = (e: Entry): boolean => e.run.token?.startsWith(this.prefix) ?? false;

  /** Runs a part of a document, which the server finds. What cannot run is said. */
  async document(what: What): Promise<void> {
    const token = this.token();
    try {
      const run = await this.connection.execute<Asked['request']>('sidecar.run', { ...what, token });
      this.remember(token, {
        request: { language: run.language ?? '', code: run.code ?? '', cwd: run.cwd ?? '' },
        workspace: '',
      });
      this.outputs.own(token, run);
    } catch (err) {
      this.outputs.forget(token);
      tell(err);
      return;
    }
    await this.result(token, this.connection.execute<RunResult>('sidecar.result', { token }));
  }

  /** Runs a request in a project. */
  async request(asked: Asked): Promise<void> {
    const token = this.token();
    this.remember(token, asked);
    this.outputs.own(token, asked.request);
    const { workspace } = asked;
    await this.result(
      token,
      this.connection.request(methods.run, { ...asked.request, token, ...(workspace && { workspace }) }),
    );
  }

  /** Asks for the same once more. */
  async again(which: { id?: string; token?: string }): Promise<void> {
    const entry = this.runs.get(which.id);
    const token = which.token ?? entry?.run.token;
    const known = token ? this.asked.get(token) : undefined;
    if (known) {
      await this.request(known);
      return;
    }
    if (!entry) return;
    const { run } = entry;
    if (run.session) tell('a session has a terminal of its own, and is begun again there');
    else if (Buffer.byteLength(run.code ?? '') < (run.codeBytes ?? 0))
      tell('only the head of its code is known here, so it cannot be run again');
    else await this.request({ request: pick(run), workspace: entry.workspace });
  }

  /** Ends a run, whoever asked for it. */
  async cancel(which: { id?: string; token?: string; workspace?: string }): Promise<void> {
    const params = which.id ? { id: which.id } : { token: which.token ?? '' };
    const place = which.workspace ? { workspace: which.workspace } : {};
    try {
      const { cancelled } = await this.connection.request(methods.cancel, { ...params, ...place });
      if (!cancelled) void window.setStatusBarMessage('sidecar: the run has ended already', 5000);
    } catch (err) {
      tell(err);
    }
  }

  /** Opens the code of a run, or as much as is known of it. */
  async code(entry: Entry): Promise<void> {
    const { run } = entry;
    const text = this.asked.get(run.token ?? '')?.request.code ?? run.code ?? (run.command ?? []).join(' ') + '\n';
    const missing = (run.codeBytes ?? 0) - Buffer.byteLength(text);
    const more = missing > 0 ? `\n… ${say.size(missing)} more …\n` : '';
    await this.texts.open(`${run.id}${extensions[run.language ?? ''] ?? '.sh'}`, text + more);
  }

  /** The run that is meant: the one of the view, or one that goes on, or the newest, this window's own first. */
  pick(node: unknown, live = false): Entry | undefined {
    const id = (node as { entry?: Entry } | undefined)?.entry?.run.id;
    if (id) return this.runs.get(id);
    const entry = this.runs.newest(this.isOwn, live);
    if (!entry)
      void window.setStatusBarMessage(live ? 'sidecar: no run goes on' : 'sidecar: there are no runs yet', 5000);
    return entry && (!live || isLive(entry)) ? entry : undefined;
  }

  private token(): string {
    const token = `${this.prefix}-${++this.count}`;
    this.outputs.expect(token);
    return token;
  }

  private async result(token: string, answer: Promise<RunResult>): Promise<void> {
    try {
      this.outputs.answered(token, await answer);
    } catch (err) {
      this.outputs.answered(token, undefined, err);
    }
  }

  private remember(token: string, asked: Asked): void {
    this.asked.set(token, asked);
    const oldest = this.asked.keys().next();
    if (this.asked.size > remembered && !oldest.done) this.asked.delete(oldest.value);
  }
}

const extensions: Record<string, string> = {
  python: '.py', bash: '.sh', node: '.js', ruby: '.rb', perl: '.pl', lua: '.lua', haskell: '.hs', octave: '.m',
  typescript: '.ts', go: '.go', php: '.php', r: '.r', julia: '.jl',
}; // prettier-ignore

function pick(run: { language?: string; code?: string; command?: string[]; cwd?: string }): Asked['request'] {
  return {
    ...(run.language && { language: run.language }),
    ...(run.code && { code: run.code }),
    ...(run.command?.length && { command: run.command }),
    ...(run.cwd && { cwd: run.cwd }),
  };
}

/** Says what is wrong, with a way on where there is one. */
export function tell(err: unknown): void {
  const text = say.message(`sidecar: ${say.fault(typeof err === 'string' ? new Error(err) : err)}`);
  const ways: Record<string, [string, ...unknown[]]> = {};
  if (text.includes('is not to be found')) ways['How to get it'] = ['sidecar.walkthrough'];
  if (text.includes('is not to be found') || text.includes('sidecar.path'))
    ways.Settings = ['workbench.action.openSettings', 'sidecar.path'];
  if (text.includes('not trusted')) ways['Manage trust'] = ['workbench.trust.manage'];
  if (text.includes('sidecar lsp')) ways.Log = ['sidecar.log'];
  void window.showErrorMessage(text, ...Object.keys(ways)).then((way) => {
    const [command, ...args] = (way ? ways[way] : undefined) ?? [];
    if (command) void commands.executeCommand(command, ...args);
  });
}

/** The part of the active editor that is meant: the selection, or what is under the cursor. */
export function here(): What | undefined {
  const editor = window.activeTextEditor;
  if (!editor) {
    tell('open a file with code, a Markdown file or a script');
    return undefined;
  }
  const { start, end } = editor.selection;
  return { uri: editor.document.uri.toString(), range: { start: point(start), end: point(end) } };
}

function point(p: Position): Position {
  return { line: p.line, character: p.character };
}

/** The folders of the window that lie on this machine. */
export function folders(): WorkspaceFolder[] {
  return (workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === 'file');
}
