// The status bar item: how the connection stands, how many runs go on, whether one asks something.
import { StatusBarAlignment, ThemeColor, window } from 'vscode';
import { type Approvals } from './approve';
import { type Connection } from './connection';
import { type Runs } from './runs';
import * as say from './say';

const states = {
  off: ['$(shield) sidecar', 'not started yet'],
  empty: ['$(shield) sidecar', 'no folder is open'],
  restricted: ['$(workspace-untrusted) sidecar', 'the folder is not trusted'],
  missing: ['$(error) sidecar: missing', ''],
  starting: ['$(loading~spin) sidecar', 'starting'],
  running: ['$(shield) sidecar', 'connected'],
  failed: ['$(error) sidecar: failed', ''],
} as const;

/** Makes the item; a click shows the runs, or puts a question. */
export function statusBar(
  connection: Connection,
  runs: Runs,
  approvals: Approvals,
): { update: () => void; dispose: () => void } {
  const item = window.createStatusBarItem('sidecar.status', StatusBarAlignment.Left, 0);
  item.name = 'Sidecar';
  const update = (): void => {
    const live = runs.list(true).length;
    const lost = [...runs.connected].filter(([, is]) => !is).map(([root]) => root);
    const [text, state] = states[connection.state];
    item.command = 'sidecar.runs.show';
    item.text = text;
    item.tooltip = `Sidecar: ${connection.why || state}`;
    item.backgroundColor = undefined;
    if (connection.state === 'missing') item.command = 'sidecar.walkthrough';
    if (connection.state === 'running' && lost.length > 0) {
      item.text = '$(debug-disconnect) sidecar: reconnecting';
      item.tooltip = `Sidecar: not connected with the sidecar of ${lost.map((root) => say.line(root)).join(', ')}`;
    } else if (live > 0) {
      item.text = `$(loading~spin) sidecar: ${live} running`;
      item.tooltip = runs
        .list(true)
        .map((e) => `${say.who(e.run)}: ${say.what(e.run)}`)
        .join('\n');
    }
    if (approvals.waiting > 0) {
      item.text = `$(question) sidecar: ${approvals.waiting} asked`;
      item.tooltip = approvals.first ? say.question(approvals.first) : '';
      item.command = 'sidecar.answer';
      item.backgroundColor = new ThemeColor('statusBarItem.warningBackground');
    }
  };
  update();
  item.show();
  return {
    update,
    dispose: () => {
      item.dispose();
    },
  };
}
