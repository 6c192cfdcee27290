// Output that waits to be shown, bounded: what the terminal would not keep, and what comes too fast, is left out, the
// oldest first, and how much that was is said.
import type { Stream } from './protocol';
import { size } from './say';

/** Who wrote: the program, or sidecar. */
export type Source = Stream | 'sidecar';

/** A text of one of them. */
export interface Chunk {
  source: Source;
  text: string;
}

/** How many characters and lines one update takes, and how many characters wait at most. */
const portion = 128 * 1024;
const some = 2000;
const backlog = 2 * 1024 * 1024;

/** What waits. */
export class Queue {
  private all: (Chunk & { lines: number })[] = [];
  private waiting = 0;
  private lines = 0;
  private missed = 0;

  /** keep is how many lines the terminal keeps. */
  constructor(private readonly keep: number) {}

  get isEmpty(): boolean {
    return this.all.length === 0;
  }

  clear(): void {
    this.all = [];
    this.waiting = this.lines = this.missed = 0;
  }

  /** Takes a text. */
  add(source: Source, text: string): void {
    if (text === '') return;
    const lines = count(text);
    this.all.push({ source, text, lines });
    this.waiting += text.length;
    this.lines += lines;
    this.skip();
  }

  /** Leaves out what is too much to wait, and what the terminal would not keep. Never what sidecar itself says. */
  private skip(): void {
    for (let i = 0; i < this.all.length - 1;) {
      const oldest = this.all[i];
      if (!oldest || (this.waiting <= backlog && this.lines - oldest.lines < this.keep)) return;
      if (oldest.source === 'sidecar') {
        i++;
        continue;
      }
      this.all.splice(i, 1);
      this.waiting -= oldest.text.length;
      this.lines -= oldest.lines;
      this.missed += Buffer.byteLength(oldest.text);
    }
  }

  /** What the next update shows. */
  take(): Chunk[] {
    const taken: Chunk[] = [];
    if (this.missed > 0) taken.push({ source: 'sidecar', text: `… ${size(this.missed)} are left out here …\n` });
    this.missed = 0;
    let room = portion;
    let lines = some;
    while (room > 0 && lines > 0) {
      const next = this.all[0];
      if (!next) break;
      const part = this.head(next, room, lines);
      if (part.text === '') break; // no room for half a character
      room -= part.text.length;
      lines -= Math.max(part.lines, 1);
      const last = taken.at(-1);
      if (last?.source === part.source) last.text += part.text;
      else taken.push({ source: part.source, text: part.text });
    }
    return taken;
  }

  /** Takes the beginning of the oldest text, to the end of a line where it has to be cut. */
  private head(oldest: Chunk & { lines: number }, room: number, lines: number): Chunk & { lines: number } {
    const to = cut(oldest.text, room, lines);
    const head = { source: oldest.source, text: oldest.text.slice(0, to), lines: oldest.lines };
    if (to >= oldest.text.length) this.all.shift();
    else head.lines = count(head.text);
    oldest.text = oldest.text.slice(to);
    oldest.lines -= head.lines;
    this.waiting -= head.text.length;
    this.lines -= head.lines;
    return head;
  }
}

function count(text: string): number {
  let lines = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) lines++;
  return lines;
}

/** Where a text of at most so many characters and lines ends; characters are not cut in two. */
function cut(text: string, room: number, lines: number): number {
  let at = 0;
  for (let n = 0; n < lines; n++) {
    const next = text.indexOf('\n', at);
    if (next < 0 || next >= room) {
      if (text.length <= room) return text.length;
      if (at > 0) return at;
      return /[\ud800-\udbff]/.test(text.charAt(room - 1)) ? room - 1 : room;
    }
    at = next + 1;
  }
  return at;
}
