// What the sidecars say by themselves.
import { type Approvals } from './approve';
import { type Outputs } from './output';
import { type Notifications, methods } from './protocol';
import { type Runs } from './runs';
import * as say from './say';

/** What is done with it. */
export interface Reactions {
  runs: Runs;
  outputs: Outputs;
  approvals: Approvals;
  /** notify tells of a finding or a refusal of a run; connected of a project's sidecar. */
  notify: (id: string | undefined, text: string) => void;
  connected: (workspace: string, pid: number, again: boolean) => void;
}

type Handlers = { [M in keyof Notifications]?: (p: Notifications[M]) => void };

/** The handlers by method. */
export function handlers(r: Reactions): Record<string, (params: unknown) => void> {
  const all: Handlers = {
    [methods.runStarted]: ({ run, workspace = '' }) => {
      r.runs.update(run, workspace);
      r.outputs.began(run, workspace);
    },
    [methods.runEnded]: ({ run, workspace = '' }) => {
      r.runs.update(run, workspace);
      r.approvals.ended(run.id);
    },
    [methods.output]: (p) => {
      r.outputs.write(p);
    },
    [methods.building]: (p) => {
      r.runs.building(p, p.workspace ?? '');
      r.outputs.building(p.id, p.token, say.building(p));
    },
    [methods.begun]: (p) => {
      r.runs.begun(p.id);
      r.outputs.building(p.id, p.token, '');
    },
    [methods.finding]: (p) => {
      r.runs.found(p.id, p.finding);
      r.notify(p.id, say.finding(p.finding, p.workspace));
    },
    [methods.denied]: (p) => {
      if (r.runs.refused(p.id, p.denial)) r.notify(p.id, say.denial(p.denial));
    },
    [methods.connection]: (p) => {
      const before = r.runs.connection(p.workspace, p.connected);
      if (p.connected) r.connected(p.workspace, p.pid ?? 0, before === false);
    },
  };
  return all as Record<string, (params: unknown) => void>;
}
