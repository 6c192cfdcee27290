// The extension: makes the parts, and ties their lives to the window's.
import { type ExtensionContext, type TreeView, commands, window, workspace } from 'vscode';
import { Approvals } from './approve';
import { Asking, type What, tell } from './ask';
import { register } from './commands';
import { Connection } from './connection';
import { handlers } from './events';
import { offerMcp } from './mcp';
import { Outputs } from './output';
import { methods } from './protocol';
import { Runs } from './runs';
import * as say from './say';
import { decisive, settings } from './settings';
import { statusBar } from './status';
import { Texts } from './texts';
import { EnvsTree, RunsTree } from './views';

let connection: Connection | undefined;

/** Called by VS Code. */
export function activate(context: ExtensionContext): void {
  const own = context.subscriptions;
  const log = window.createOutputChannel('Sidecar', { log: true });
  const runs = new Runs();
  const texts = new Texts();
  const approvals = new Approvals((text, answers) => window.showWarningMessage(text, ...answers));
  const envs = new EnvsTree(runs);
  const reload = (): Promise<void> => load(link, runs, envs);

  const link: Connection = new Connection(context, log, {
    approve: async (question, token) => {
      const answer = await approvals.ask(question, token);
      if (!answer) throw new Error('nobody answered here');
      return { answer };
    },
    executeCommand: (command, args, next): unknown =>
      serverCommand(asking, outputs, runs, command, args) ?? next(command, args),
    showMessage: (type, text) => {
      const shown = say.message(`sidecar: ${text}`);
      if (type === 1) tell(text);
      else if (type === 2) void window.showWarningMessage(shown);
      else void window.showInformationMessage(shown);
    },
    connected: () => void reload(),
    lost: () => {
      runs.lost();
      runs.connected.clear();
      outputs.lost();
      approvals.ended();
    },
  });
  connection = link;
  const asking = new Asking(link, runs, texts);
  const outputs = new Outputs(link, runs, {
    cancel: (which) => void asking.cancel(which),
    again: (which) => void asking.again(which),
  });
  asking.outputs = outputs;
  link.listen(
    handlers({
      runs,
      outputs,
      approvals,
      notify: (id, text) => {
        if (settings.notify && !outputs.isVisible(id)) void window.showWarningMessage(say.message(`sidecar: ${text}`));
      },
      connected: (root, pid, again) => {
        if (again)
          void window.showInformationMessage(
            say.message(`sidecar: connected again with the sidecar of ${root} (process ${pid})`),
          );
        void loadProject(link, runs, envs, root);
      },
    }),
  );

  const tree = new RunsTree(runs);
  const view = window.createTreeView('sidecar.runs', { treeDataProvider: tree });
  const envView = window.createTreeView('sidecar.environments', { treeDataProvider: envs });
  const bar = statusBar(link, runs, approvals);
  const mcp = offerMcp(link, String((context.extension.packageJSON as { version?: string }).version), (text) => {
    log.warn(text);
  });
  const show = gathered(() => {
    tree.refresh();
    envs.refresh();
    bar.update();
    const live = runs.list(true);
    view.badge = live.length > 0 ? { value: live.length, tooltip: `${live.length} running` } : undefined;
    void commands.executeCommand('setContext', 'sidecar.live', live.length > 0);
    void commands.executeCommand('setContext', 'sidecar.asks', approvals.waiting > 0);
  });
  own.push(log, texts.register(), view, envView, bar, mcp, ticking(view, runs), buildProgress(runs));
  own.push(runs.changed.on(show), link.changed.on(show), link.changed.on(mcp.update));
  own.push(
    approvals.changed.on(({ question, waits }) => {
      if (waits) runs.asks(question);
      else runs.answered(question);
      show();
    }),
    workspace.onDidChangeConfiguration((e) => {
      mcp.update();
      if (decisive.some((name) => e.affectsConfiguration(name)) && link.state !== 'off') void quietly(link.restart());
    }),
    workspace.onDidChangeWorkspaceFolders(() => {
      mcp.update();
      envs.known.clear();
      void quietly(link.start().then(reload));
    }),
    workspace.onDidGrantWorkspaceTrust(() => void quietly(link.start())),
    ...register({ connection: link, asking, outputs, approvals, envs, texts, reload, log }),
  );
  if (settings.connectsAtStartup) void quietly(link.start());
  else void commands.executeCommand('setContext', 'sidecar.state', 'off');
}

/** Called by VS Code: the process ends, the sidecars live on. */
export async function deactivate(): Promise<void> {
  await connection?.stop();
}

/** Starts, where that nothing can be started is no news: no folder, no trust. */
async function quietly(doing: Promise<unknown>): Promise<void> {
  try {
    await doing;
  } catch (err) {
    if (connection?.state !== 'empty' && connection?.state !== 'restricted') tell(err);
  }
}

/** Does what lenses and actions of the server stand for; undefined leaves it to the server. */
function serverCommand(
  asking: Asking,
  outputs: Outputs,
  runs: Runs,
  command: string,
  args: unknown[],
): Promise<unknown> | undefined {
  const [argument] = args as [(What & { token?: string }) | undefined];
  const entry = (): ReturnType<Runs['get']> => runs.list().find((e) => e.run.token === argument?.token);
  switch (command) {
    case 'sidecar.run':
      return argument && asking.document(argument);
    case 'sidecar.cancel':
      return argument?.token ? asking.cancel({ token: argument.token }) : undefined;
    case 'sidecar.showOutput': {
      const e = entry();
      if (e) outputs.show(e);
      return e && Promise.resolve();
    }
    default:
      return undefined;
  }
}

/** Asks for what there is in all projects. */
async function load(link: Connection, runs: Runs, envs: EnvsTree): Promise<void> {
  const { workspaces } = await link.request(methods.workspaces, {});
  for (const w of workspaces) {
    if (w.error) tell(w.error);
    if (!w.root || !w.about) continue;
    runs.connection(w.root, true);
    await loadProject(link, runs, envs, w.root);
  }
}

async function loadProject(link: Connection, runs: Runs, envs: EnvsTree, workspace: string): Promise<void> {
  try {
    const listed = await link.request(methods.runs, { limit: 200, workspace });
    runs.load(listed.runs, workspace);
    envs.known.set(workspace, (await link.request(methods.envs, { workspace })).environments);
    envs.refresh();
  } catch {
    // it is asked again when the sidecar is connected again
  }
}

/** Does something once for all that comes together. */
function gathered(act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      act();
    }, 30);
  };
}

/** Has durations go on while they are seen. */
function ticking(view: TreeView<unknown>, runs: Runs): { dispose: () => void } {
  const timer = setInterval(() => {
    if (view.visible && runs.list(true).length > 0) runs.tell();
  }, 1000);
  return {
    dispose: () => {
      clearInterval(timer);
    },
  };
}

/** Shows in the view of environments that one is being built. */
function buildProgress(runs: Runs): { dispose: () => void } {
  let ended: (() => void) | undefined;
  return runs.changed.on(() => {
    if (runs.builds.size > 0 && !ended) {
      const until = new Promise<void>((done) => (ended = done));
      void window.withProgress({ location: { viewId: 'sidecar.environments' } }, () => until);
    } else if (runs.builds.size === 0) {
      ended?.();
      ended = undefined;
    }
  });
}
