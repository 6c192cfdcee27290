// All runs of the sidecars that are connected, whoever asked for them, as they are told.
import { Emitter } from './emitter';
import type { Building, Denial, Finding, Question, Run } from './protocol';
import * as say from './say';

/** A run, and what is known of it besides. */
export interface Entry {
  run: Run;
  /** workspace is the project's root, at when it began (ms since 1970). */
  workspace: string;
  at: number;
  /** building is how far its environment is; gone says that its sidecar is, so that no end will come. */
  building?: string;
  gone?: boolean;
  findings: Finding[];
  denied: Denial[];
  /** asks are the questions that wait for an answer. */
  asks: Question[];
}

const limit = 500;

/** Whether a run goes on. */
export function isLive(e: Entry): boolean {
  return !e.run.end && !e.gone;
}

/** The runs. */
export class Runs {
  private readonly all = new Map<string, Entry>();
  /** connected says by project whether its sidecar is. */
  readonly connected = new Map<string, boolean>();
  /** builds are the environments that are built now: how far, by run. */
  readonly builds = new Map<string, { environment: string; text: string; workspace: string }>();
  readonly changed = new Emitter<undefined>();

  get(id: string | undefined): Entry | undefined {
    return id ? this.all.get(id) : undefined;
  }

  /** Takes a run as it is told. */
  update(run: Run, workspace: string): Entry {
    const known = this.all.get(run.id);
    const merged: Run = { ...run };
    const end = run.end ?? known?.run.end;
    const token = run.token ?? known?.run.token;
    if (end) merged.end = end;
    if (token) merged.token = token;
    const entry: Entry = {
      run: merged,
      workspace: workspace === '' ? (known?.workspace ?? '') : workspace,
      at: Date.parse(run.started) || 0,
      findings: end?.findings ?? known?.findings ?? [],
      denied: end?.denied ?? known?.denied ?? [],
      asks: end ? [] : (known?.asks ?? []),
      ...(!end && known?.building && { building: known.building }),
    };
    this.all.set(run.id, entry);
    if (end) this.builds.delete(run.id);
    if (!known) this.forget();
    this.tell();
    return entry;
  }

  /** Takes the list of a project's sidecar. */
  load(runs: Run[], workspace: string): void {
    for (const run of runs) this.update(run, workspace);
  }

  found(id: string | undefined, finding: Finding): void {
    this.get(id)?.findings.push(finding);
    this.tell();
  }

  /** Takes a refusal; gives whether it is the first of its run. */
  refused(id: string, denial: Denial): boolean {
    const denied = this.get(id)?.denied;
    denied?.push(denial);
    this.tell();
    return denied?.length === 1;
  }

  building(b: Building, workspace: string): void {
    const text = say.building(b);
    const entry = this.get(b.id);
    if (entry) entry.building = text;
    if (b.total && (b.done ?? 0) >= b.total) this.begun(b.id);
    else this.builds.set(b.id, { environment: say.line(b.environment), text, workspace });
    this.tell();
  }

  /** The environment of a run is there. */
  begun(id: string): void {
    const entry = this.get(id);
    if (entry) delete entry.building;
    if (this.builds.delete(id) || entry) this.tell();
  }

  asks(q: Question): void {
    this.get(q.run)?.asks.push(q);
    this.tell();
  }

  answered(q: Question): void {
    const entry = this.get(q.run);
    if (entry) entry.asks = entry.asks.filter((other) => other.id !== q.id);
    this.tell();
  }

  /** A project's sidecar is connected no longer; undefined is all of them. What went on there is gone. */
  lost(workspace?: string): void {
    for (const [id, e] of this.all) {
      if (workspace !== undefined && e.workspace !== workspace) continue;
      this.builds.delete(id);
      if (isLive(e)) e.gone = true;
    }
    for (const root of this.connected.keys()) {
      if (workspace === undefined || root === workspace) this.connected.set(root, false);
    }
    this.tell();
  }

  /** Says whether a project's sidecar is connected; gives what was known before. */
  connection(workspace: string, connected: boolean): boolean | undefined {
    const before = this.connected.get(workspace);
    if (!connected) this.lost(workspace);
    this.connected.set(workspace, connected);
    this.tell();
    return before;
  }

  /** The runs, those that go on first, then the newest first. */
  list(live = false): Entry[] {
    return [...this.all.values()]
      .filter((e) => !live || isLive(e))
      .sort((a, b) => Number(isLive(b)) - Number(isLive(a)) || b.at - a.at || (a.run.id < b.run.id ? 1 : -1));
  }

  /** The newest run, of this window's own if there is one. */
  newest(own: (e: Entry) => boolean, live = false): Entry | undefined {
    const list = this.list(live);
    return list.find(own) ?? list[0];
  }

  /** Tells who shows the runs, as when it has become later. */
  tell(): void {
    this.changed.fire(undefined);
  }

  private forget(): void {
    const ended = this.list().slice(limit);
    for (const e of ended) this.all.delete(e.run.id);
  }
}
