// The commands of the palette, of keys and of the view.
import { type Disposable, commands, window } from 'vscode';
import { type Approvals, offers, words } from './approve';
import { type Asking, folders, here, tell } from './ask';
import { type Connection } from './connection';
import { doctor } from './doctor';
import { type Outputs } from './output';
import { methods } from './protocol';
import * as say from './say';
import { statusText } from './status-text';
import { type Texts } from './texts';
import { type EnvNode, type EnvsTree } from './views';

/** What the commands work with. */
export interface Parts {
  connection: Connection;
  asking: Asking;
  outputs: Outputs;
  approvals: Approvals;
  envs: EnvsTree;
  texts: Texts;
  reload: () => Promise<void>;
  log: { show: () => void };
}

/** Registers them. */
export function register(p: Parts): Disposable[] {
  const all: Record<string, (node?: unknown) => unknown> = {
    runHere: () => {
      const what = here();
      return what && p.asking.document(what);
    },
    runFile: () => {
      const what = here();
      return what && p.asking.document({ uri: what.uri });
    },
    runAs: () => runAs(p),
    'runs.show': () => commands.executeCommand('sidecar.runs.focus'),
    'runs.output': (node) => {
      const entry = p.asking.pick(node);
      if (entry) p.outputs.show(entry);
    },
    'runs.cancel': (node) => {
      const entry = p.asking.pick(node, true);
      return entry && p.asking.cancel({ id: entry.run.id, workspace: entry.workspace });
    },
    'runs.again': (node) => {
      const entry = p.asking.pick(node);
      return entry && p.asking.again({ id: entry.run.id });
    },
    'runs.code': (node) => {
      const entry = p.asking.pick(node);
      return entry && p.asking.code(entry);
    },
    'runs.refresh': () => p.reload(),
    'environments.refresh': () => p.reload(),
    'environments.build': (node) => build(p, node as EnvNode | undefined),
    answer: () => answer(p.approvals),
    status: () => status(p),
    doctor: () => {
      const { path, why } = p.connection.find();
      if (path) doctor(path, folders()[0]?.uri.fsPath, p.outputs);
      else tell(why);
    },
    restart: () => p.connection.restart(),
    log: () => {
      p.log.show();
    },
    walkthrough: () => commands.executeCommand('workbench.action.openWalkthrough', 'sidecar.sidecar#start', false),
  };
  return Object.entries(all).map(([name, act]) =>
    commands.registerCommand(`sidecar.${name}`, async (node?: unknown) => {
      try {
        await act(node);
      } catch (err) {
        tell(err);
      }
    }),
  );
}

async function runAs(p: Parts): Promise<void> {
  const what = here();
  if (!what) return;
  const known = [...p.envs.known.values()].flat().flatMap((e) => e.languages.map((l) => l.name));
  const language = await window.showQuickPick([...new Set(known)], { placeHolder: 'The language to run it as' });
  const isSelection =
    what.range &&
    (what.range.start.line !== what.range.end.line || what.range.start.character !== what.range.end.character);
  if (language) await p.asking.document(isSelection ? { ...what, language } : { uri: what.uri, language });
}

/** Builds an environment, by a run in it that does nothing. */
async function build(p: Parts, node: EnvNode | undefined): Promise<void> {
  const all = [...p.envs.known].flatMap(([workspace, envs]) =>
    envs.filter((e) => e.notBuilt).map((e) => ({ label: e.id, description: e.summary ?? '', workspace })),
  );
  const chosen = node?.environment
    ? { label: node.environment, workspace: node.workspace ?? '' }
    : await window.showQuickPick(all, { placeHolder: all.length > 0 ? 'The environment to build' : 'All are built' });
  if (!chosen) return;
  await p.asking.request({ request: { command: ['true'], environment: chosen.label }, workspace: chosen.workspace });
  await p.reload();
}

/** Puts the question that waits as a choice, where its notification is hidden. */
async function answer(approvals: Approvals): Promise<void> {
  const question = approvals.first;
  if (!question) return;
  const word = await window.showQuickPick(offers(question), { placeHolder: say.question(question) });
  const chosen = word && words[word];
  if (chosen) approvals.answer(question.id, chosen);
}

async function status(p: Parts): Promise<void> {
  const texts = await Promise.all(
    folders().map(async (f) => {
      try {
        return statusText(await p.connection.request(methods.status, { workspace: f.uri.toString() }));
      } catch (err) {
        return `${f.uri.fsPath}\n  ${say.line(say.fault(err))}\n`;
      }
    }),
  );
  await p.texts.open('status.txt', texts.join('\n'));
}
