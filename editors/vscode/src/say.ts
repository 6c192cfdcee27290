// Words for people: how long, how much, how a run ended. What others wrote is made one printable line before it is shown.
import type { Building, Denial, Finding, Question, Run, RunEnd } from './protocol';

/** What of a text must not reach the screen: controls, and what turns the direction of writing. */
const unseemly = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g;

/** One printable line of a text that others wrote, so long at most. */
export function line(text: string, longest = 300): string {
  const clean = text.replace(unseemly, ' ').trim();
  return clean.length > longest ? clean.slice(0, longest - 1) + '…' : clean;
}

/**
 * A text for a notification. VS Code makes links of [text](target) in those, and a target may be a command of the editor
 * or a file: what a run or a client wrote must not become one.
 */
export function message(text: string): string {
  return line(text, 1000).replace(/\]\(/g, '] (');
}

/** A text for the status bar, which makes icons of $(name). */
export function bar(text: string): string {
  return line(text, 60).replace(/\$\(/g, '$ (');
}

/** A duration in milliseconds. */
export function elapsed(ms: number): string {
  const two = (n: number): string => String(Math.floor(n)).padStart(2, '0');
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${two((ms / 1000) % 60)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${two((ms / 60_000) % 60)} min`;
}

/** A number of bytes. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; bytes >= 1000 && i < units.length - 1; i++) bytes /= 1000;
  return `${i === 0 ? bytes : bytes.toFixed(1)} ${units[i] ?? ''}`;
}

/** What a run runs, in a line. */
export function what(run: { command?: string[]; code?: string; language?: string }): string {
  if (run.command?.length) return line(run.command.join(' '), 120);
  const first = (run.code ?? '').split('\n').find((l) => l.trim()) ?? '';
  return line(`${run.language ?? 'code'}: ${first}`, 120);
}

/** How a run ended: the fields that an answer and an event share. */
export type Ending = Pick<RunEnd, 'exitCode' | 'durationMs' | 'limit' | 'signal' | 'cancelled' | 'error'>;

/** How a run ended, in words. */
export function outcome(end: Ending): string {
  if (end.error) return `not done: ${line(end.error.message)}`;
  const took = elapsed(end.durationMs);
  if (end.limit) return `ended at the limit of ${line(end.limit)} in ${took}`;
  if (end.cancelled) return `cancelled after ${took}`;
  return `${end.signal ? line(end.signal) : `exit ${end.exitCode}`} in ${took}`;
}

/** Whether a run ended as its author meant it to. */
export function isWell(end: Ending): boolean {
  return !end.error && !end.limit && !end.cancelled && !end.signal && end.exitCode === 0;
}

/** A path relative to the project, where it lies in it. */
export function short(path: string, workspace = ''): string {
  const inside = workspace !== '' && workspace !== '/' && path.startsWith(workspace + '/');
  return line(inside ? path.slice(workspace.length + 1) : path);
}

/** A finding, in a line. */
export function finding(f: Finding, workspace?: string): string {
  const moved = f.movedTo ? `; it is now ${short(f.movedTo, workspace)}` : '';
  return `${f.action} ${short(f.path, workspace)}: ${line(f.reason)}${moved}`;
}

/** A refusal, in a line. */
export function denial(d: Denial): string {
  const where = `${d.method ? d.method + ' ' : ''}${d.host}${d.port ? `:${d.port}` : ''}`;
  return line(`denied ${where}: ${d.why}${d.setting ? ` (${d.setting} would allow it)` : ''}`);
}

/** How far the environment of a run has come. */
export function building(b: Pick<Building, 'stage' | 'name' | 'done' | 'total'>): string {
  const text = b.name ? `${b.stage} ${b.name}` : b.stage;
  return line(b.total ? `${text} (${b.done ?? 0} of ${b.total})` : text);
}

/** A question, in words; what "always" writes, if that is an answer, is a part of it. */
export function question(q: Question): string {
  const asks = `${line(q.client ?? 'a run')} asks: ${line(q.text || q.subject)}`;
  return q.writes
    ? `${asks} (Always writes ${line(q.writes)} to ${line(q.file ?? 'your settings')}: every name below it, too, in every project)`
    : asks;
}

/** An error of the channel, with what to do. */
export function fault(err: unknown): string {
  const e = err as { message?: unknown; data?: { hint?: unknown } } | undefined;
  const text = typeof e?.message === 'string' ? e.message : String(err);
  const hint = e?.data?.hint;
  return typeof hint === 'string' && hint !== '' && !text.includes(hint) ? `${text}: ${hint}` : text;
}

/** Who asked for a run. */
export function who(run: Run): string {
  return line(run.client ?? 'unknown', 60);
}
