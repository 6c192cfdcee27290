// Terminals with the output of runs: of this window's own, which streams, and of others', which is read.
import { type Terminal, TerminalLocation, ThemeIcon, window } from 'vscode';
import { type Connection } from './connection';
import { type OutputParams, type Run, type RunResult, type Stream, methods } from './protocol';
import { type Entry, type Runs, isLive } from './runs';
import * as say from './say';
import { Screen } from './screen';
import { settings } from './settings';

/** A run whose output is shown: token where this window asked for it, id as soon as it is known. */
interface View {
  token?: string;
  id?: string;
  workspace: string;
  title: string;
  pane?: Pane;
  /** early is what came before there was a pane. */
  early: OutputParams[];
  isDone: boolean;
}

/** A terminal, which shows one run after the other. */
interface Pane {
  terminal: Terminal;
  screen: Screen;
  view: View;
}

/** What of a run the keys of its terminal are for. */
export interface Acts {
  cancel: (which: { id?: string; token?: string; workspace: string }) => void;
  again: (which: { id?: string; token?: string }) => void;
}

const most = 1024 * 1024;
const follow = 100;

/** The views. */
export class Outputs {
  private readonly views = new Set<View>();
  private readonly panes = new Set<Pane>();

  constructor(
    private readonly connection: Connection,
    private readonly runs: Runs,
    private readonly acts: Acts,
  ) {}

  /** Prepares for a run that is being asked for here. */
  expect(token: string): void {
    this.views.add({ token, workspace: '', title: '', early: [], isDone: false });
  }

  /** The run is asked for: shows its view. */
  own(token: string, run: Pick<Run, 'language' | 'code' | 'command'>): void {
    const view = this.find({ token });
    if (!view) return;
    view.title = say.what(run);
    this.open(view);
    view.pane?.screen.progress('asked for');
    for (const p of view.early.splice(0)) this.write(p);
    view.pane?.terminal.show(!settings.focus);
  }

  /** The run was not asked for after all. */
  forget(token: string): void {
    const view = this.find({ token });
    if (view) this.views.delete(view);
  }

  began(run: Run, workspace: string): void {
    const view = run.token ? this.find({ token: run.token }) : undefined;
    if (!view) return;
    view.id = run.id;
    view.workspace = workspace;
    view.pane?.screen.progress('');
  }

  building(id: string, token: string | undefined, text: string): void {
    (this.find({ id }) ?? this.find({ token }))?.pane?.screen.progress(text);
  }

  /** Takes output of this window's own runs. */
  write(p: OutputParams): void {
    const view = this.find({ token: p.token });
    if (!view) return;
    if (!view.pane) {
      view.early.push(p);
      return;
    }
    if (p.dropped) view.pane.screen.note(`… ${say.size(p.dropped)} are left out here …`);
    view.pane.screen.add(p.stream, p.text ?? '');
  }

  /** Takes the answer to a run of this window's own, or why there is none. */
  answered(token: string, result: RunResult | undefined, err?: unknown): void {
    const view = this.find({ token });
    if (!view || view.isDone) return;
    if (result) {
      view.id ??= result.id;
      this.finish(view, result);
    } else {
      view.isDone = true;
      view.pane?.screen.add('stderr', `${say.line(say.fault(err), 2000)}\n`);
      view.pane?.screen.name(`not done · ${view.title}`);
    }
    if (!view.pane) this.views.delete(view);
  }

  /** Nothing more comes of the runs of this window. */
  lost(): void {
    for (const view of this.views)
      if (view.token) this.answered(view.token, undefined, new Error('the connection has ended, and the run with it'));
  }

  /** Shows the output of a run, whoever asked for it. */
  show(entry: Entry): void {
    let view = this.find({ id: entry.run.id });
    if (!view?.pane) {
      view = { id: entry.run.id, workspace: entry.workspace, title: say.what(entry.run), early: [], isDone: false };
      this.views.add(view);
      this.open(view);
      void this.read(view, isLive(entry));
    }
    view.pane?.terminal.show(!settings.focus);
  }

  /** Whether the output of a run is before the person. */
  isVisible(id: string | undefined): boolean {
    const pane = id ? this.find({ id })?.pane : undefined;
    return pane !== undefined && pane.terminal === window.activeTerminal;
  }

  /** A terminal that is no run's: for what a program of this machine says. */
  plain(title: string): Screen {
    const view: View = { workspace: '', title, early: [], isDone: true };
    const { screen, terminal } = this.open(view);
    terminal.show(!settings.focus);
    return screen;
  }

  private find(by: { token?: string | undefined; id?: string }): View | undefined {
    for (const view of this.views) {
      if (by.token && view.token === by.token) return view;
      if (by.id && view.id === by.id) return view;
    }
    return undefined;
  }

  /** Gives a view a terminal: one whose run has ended, or a new one. */
  private open(view: View): Pane {
    const free = [...this.panes].find((p) => p.view.isDone);
    if (free) {
      this.views.delete(free.view);
      delete free.view.pane;
      free.view = view;
      free.screen.reset(settings);
    }
    const pane = free ?? this.make(view);
    view.pane = pane;
    pane.screen.name(view.title);
    return pane;
  }

  private make(view: View): Pane {
    let pane: Pane | undefined = undefined;
    const shown = (): View => pane?.view ?? view;
    const screen = new Screen(settings, {
      cancel: () => {
        this.acts.cancel(shown());
      },
      again: () => {
        if (shown().isDone) this.acts.again(shown());
      },
      close: () => pane?.terminal.dispose(),
      closed: () => {
        if (!pane) return;
        this.panes.delete(pane);
        this.views.delete(pane.view);
        delete pane.view.pane;
      },
    });
    const location = settings.inEditor ? TerminalLocation.Editor : TerminalLocation.Panel;
    const name = view.title || 'Sidecar';
    const terminal = window.createTerminal({
      name,
      pty: screen,
      iconPath: new ThemeIcon('shield'),
      isTransient: true,
      location,
    });
    pane = { terminal, screen, view };
    this.panes.add(pane);
    return pane;
  }

  /** Adds what sidecar has to say of a run at its end. */
  private finish(view: View, end: say.Ending & Pick<RunResult, 'findings' | 'denied' | 'notes' | 'gaps'>): void {
    view.isDone = true;
    const screen = view.pane?.screen;
    if (!screen) return;
    for (const f of end.findings ?? []) screen.note(say.finding(f, view.workspace));
    for (const d of end.denied ?? []) screen.note(say.denial(d));
    for (const text of [...(end.notes ?? []), ...(end.gaps ?? [])]) screen.note(text);
    screen.note(say.outcome(end));
    screen.name(`${say.isWell(end) ? '✓' : '✗'} ${view.title}`);
  }

  /** Reads a run that somebody else asked for: one stream after the other, or, while it goes on, both at once. */
  private async read(view: View, live: boolean): Promise<void> {
    try {
      if (live) await Promise.all([this.stream(view, 'stdout'), this.stream(view, 'stderr')]);
      else for (const stream of ['stdout', 'stderr'] as const) await this.stream(view, stream);
    } catch (err) {
      view.pane?.screen.note(say.fault(err));
    }
    const entry = this.runs.get(view.id);
    if (entry && isLive(entry)) await this.end(entry.run.id); // runEnded comes after the last of the output
    const end = this.runs.get(view.id)?.run.end;
    if (end) this.finish(view, end);
    else view.isDone = true;
  }

  /** Waits until a run is known to have ended. */
  private end(id: string): Promise<void> {
    return new Promise((done) => {
      const listening = this.runs.changed.on(() => {
        const entry = this.runs.get(id);
        if (entry && isLive(entry)) return;
        listening.dispose();
        done();
      });
    });
  }

  private async stream(view: View, stream: Stream): Promise<void> {
    for (let offset = 0; view.pane && view.id;) {
      const r = await this.connection.request(methods.runOutput, {
        id: view.id,
        stream,
        offset,
        workspace: view.workspace,
      });
      const screen = screenOf(view);
      screen?.add(stream, r.text ?? '');
      offset = r.next;
      if (r.total - offset > 2 * most) {
        // more than a terminal keeps: go on near the end
        screen?.note(`… ${say.size(r.total - most - offset)} are left out here …`);
        offset = r.total - most;
      }
      if (r.missing) {
        screen?.note(`… ${say.size(r.missing)} can no longer be had …`);
        offset = r.total;
      }
      if (offset < r.total) continue;
      if (!r.live) return;
      await new Promise((done) => setTimeout(done, follow));
    }
  }
}

/** The screen of a view, if it is still shown. */
function screenOf(view: View): Screen | undefined {
  return view.pane?.screen;
}
