// The trees of the view "Sidecar": runs, and environments.
import {
  EventEmitter,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState as Collapsible,
} from 'vscode';
import type { Environment } from './protocol';
import { type Entry, type Runs, isLive } from './runs';
import * as say from './say';

/** A line of the tree of runs: a run, or something about it. */
export interface RunNode {
  entry: Entry;
  about?: { text: string; icon: string };
}

/** The runs of all clients, those that go on first; beneath each what there is to say of it. */
export class RunsTree implements TreeDataProvider<RunNode> {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly runs: Runs) {}

  refresh(): void {
    this.changes.fire(undefined);
  }

  getChildren(node?: RunNode): RunNode[] {
    if (!node) return this.runs.list().map((entry) => ({ entry }));
    return node.about ? [] : about(node.entry).map((a) => ({ entry: node.entry, about: a }));
  }

  getTreeItem({ entry, about }: RunNode): TreeItem {
    if (about) {
      const item = new TreeItem(about.text);
      item.iconPath = new ThemeIcon(about.icon);
      item.tooltip = about.text;
      item.id = `${entry.run.id}/${about.icon}/${about.text}`;
      return item;
    }
    const isOpen = entry.findings.length + entry.denied.length + entry.asks.length > 0;
    const item = new TreeItem(say.what(entry.run), isOpen ? Collapsible.Expanded : Collapsible.Collapsed);
    item.id = `${entry.run.id}${isOpen ? '+' : ''}`; // an item that is known stays as it was
    item.description = [say.who(entry.run), took(entry), counts(entry)].filter((t) => t !== '').join(' · ');
    item.iconPath = icon(entry);
    item.tooltip = tooltip(entry);
    item.contextValue = `run ${isLive(entry) ? 'live' : 'ended'}${entry.asks.length > 0 ? ' asks' : ''}`;
    item.command = { command: 'sidecar.runs.output', title: 'Show its output', arguments: [{ entry }] };
    return item;
  }
}

function took(e: Entry): string {
  if (e.run.end) return say.outcome(e.run.end);
  if (e.gone) return 'its sidecar is gone';
  if (e.building) return e.building;
  return say.elapsed(Math.max(0, Math.floor((Date.now() - e.at) / 1000) * 1000));
}

function counts(e: Entry): string {
  const many = (n: number, one: string): string => (n === 0 ? '' : `${n} ${one}${n === 1 ? '' : 's'}`);
  const denied = e.denied.length > 0 ? `${e.denied.length} denied` : '';
  return [many(e.findings.length, 'finding'), denied, many(e.asks.length, 'question')]
    .filter((t) => t !== '')
    .join(', ');
}

function icon(e: Entry): ThemeIcon {
  if (e.asks.length > 0) return new ThemeIcon('question', new ThemeColor('charts.yellow'));
  if (isLive(e)) return new ThemeIcon(e.building ? 'package' : 'loading~spin', new ThemeColor('charts.blue'));
  if (e.gone) return new ThemeIcon('debug-disconnect');
  if (e.run.end?.cancelled) return new ThemeIcon('circle-slash');
  if (e.run.end && say.isWell(e.run.end)) return new ThemeIcon('pass', new ThemeColor('testing.iconPassed'));
  return new ThemeIcon('error', new ThemeColor('testing.iconFailed'));
}

/** What there is to say of a run, a line each. */
export function about(e: Entry): { text: string; icon: string }[] {
  const { run } = e;
  const lines = [
    ...e.asks.map((q) => ({ text: say.line(q.text), icon: 'question' })),
    ...e.findings.map((f) => ({ text: say.finding(f, e.workspace), icon: 'warning' })),
    ...e.denied.map((d) => ({ text: say.denial(d), icon: 'globe' })),
    { text: `asked by ${say.who(run)}`, icon: 'person' },
    { text: `began ${new Date(e.at).toLocaleString()}`, icon: 'clock' },
  ];
  if (run.session)
    lines.push({ text: `a session${run.profile ? `, profile ${say.line(run.profile)}` : ''}`, icon: 'terminal' });
  if (run.end?.maxRSS) lines.push({ text: `${say.size(run.end.maxRSS)} of memory`, icon: 'dashboard' });
  if (run.end) lines.push({ text: `printed ${say.size(run.end.stdoutBytes + run.end.stderrBytes)}`, icon: 'output' });
  if (run.cwd && run.cwd !== e.workspace) lines.push({ text: `in ${say.short(run.cwd, e.workspace)}`, icon: 'folder' });
  return lines;
}

function tooltip(e: Entry): MarkdownString {
  const text = new MarkdownString('', false);
  text.appendCodeblock((e.run.code ?? say.what(e.run)).slice(0, 600), e.run.language ?? '');
  for (const line of about(e)) text.appendText(`${line.text}\n`);
  return text;
}

/** A line of the tree of environments. */
export interface EnvNode {
  text: string;
  detail?: string;
  icon: ThemeIcon;
  context?: string;
  isOpen?: boolean;
  children?: EnvNode[];
  /** environment and workspace are those of an environment. */
  environment?: string;
  workspace?: string;
}

/** The environments of each project, whether they are built, and how far those are that are being built. */
export class EnvsTree implements TreeDataProvider<EnvNode> {
  private readonly changes = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changes.event;
  /** known are the environments by project. */
  readonly known = new Map<string, Environment[]>();

  constructor(private readonly runs: Runs) {}

  refresh(): void {
    this.changes.fire(undefined);
  }

  getChildren(node?: EnvNode): EnvNode[] {
    if (node) return node.children ?? [];
    const builds = [...this.runs.builds.values()].map((b) => ({
      text: b.environment,
      detail: b.text,
      icon: new ThemeIcon('loading~spin'),
    }));
    const all = [...this.known].map(([root, envs]) => ({ root, nodes: envs.map((e) => environment(e, root)) }));
    if (all.length === 1) return [...builds, ...(all[0]?.nodes ?? [])];
    return [
      ...builds,
      ...all.map(({ root, nodes }) => ({ text: root, icon: ThemeIcon.Folder, children: nodes, isOpen: true })),
    ];
  }

  getTreeItem(node: EnvNode): TreeItem {
    const state = !node.children?.length
      ? Collapsible.None
      : node.isOpen
        ? Collapsible.Expanded
        : Collapsible.Collapsed;
    const item = new TreeItem(say.line(node.text), state);
    item.description = say.line(node.detail ?? '');
    item.iconPath = node.icon;
    item.tooltip = [node.text, node.detail].filter(Boolean).join(': ');
    if (node.context) item.contextValue = node.context;
    return item;
  }
}

function environment(e: Environment, workspace: string): EnvNode {
  const state = e.provider === 'host' ? "this machine's" : e.notBuilt ? 'not built yet' : 'built';
  const packages = e.packages ?? [];
  return {
    text: e.id,
    detail: [state, e.summary].filter(Boolean).join(' · '),
    icon: new ThemeIcon(e.provider === 'host' ? 'device-desktop' : e.notBuilt ? 'circle-outline' : 'package'),
    context: e.notBuilt ? 'notBuilt' : 'built',
    environment: e.id,
    workspace,
    isOpen: e.provider === 'host',
    children: [
      ...e.languages.map((l) => ({
        text: l.name,
        detail: [l.version, l.program].filter(Boolean).join('  '),
        icon: new ThemeIcon('code'),
      })),
      ...packages.map((p) => ({ text: p, detail: '', icon: new ThemeIcon('library') })),
      ...(e.missing ?? []).map((m) => ({
        text: m.name,
        detail: `missing: ${m.hint}`,
        icon: new ThemeIcon('circle-slash'),
      })),
    ],
  };
}
