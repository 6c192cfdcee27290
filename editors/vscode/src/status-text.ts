// How sidecars are, as text.
import type { StatusResult } from './protocol';
import * as say from './say';

/** A sidecar's state, a line each. */
export function statusText(s: StatusResult): string {
  const lines = [say.line(s.workspace)];
  const add = (label: string, value: string): void => {
    lines.push(`  ${label.padEnd(10)} ${say.line(value)}`);
  };
  if (s.branch) add('branch', s.branch);
  add('version', s.build.version);
  add('process', `${s.pid}, since ${s.started}, ${say.size(s.memory ?? 0)}`);
  add('socket', s.socket);
  add('runs', `${s.runs.length} now, ${s.runsBefore} before`);
  for (const c of s.clients) add('client', `${c.name} ${c.version ?? ''} (process ${c.pid ?? 0})`);
  return lines.join('\n') + '\n';
}
