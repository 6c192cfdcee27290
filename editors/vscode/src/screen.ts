// A terminal that output streams into, as a Pseudoterminal: one update in some 50 ms, what waits bounded.
import type { Pseudoterminal } from 'vscode';
import { Filter } from './ansi';
import { Emitter } from './emitter';
import { type Chunk, Queue, type Source } from './queue';
import * as say from './say';

/** What the keys of the terminal do. */
export interface Keys {
  cancel: () => void;
  again: () => void;
  close: () => void;
  closed: () => void;
}

/** How it shows: how many lines the terminal keeps, and whether with the colours that programs print. */
export interface Look {
  lines: number;
  colors: boolean;
}

const pause = 50;

/** A terminal's side of it. */
export class Screen implements Pseudoterminal {
  private readonly writes = new Emitter<string>();
  private readonly names = new Emitter<string>();
  readonly onDidWrite = this.writes.on;
  readonly onDidChangeName = this.names.on;
  private queue: Queue;
  private filters: Record<'stdout' | 'stderr', Filter>;
  private last: Source = 'sidecar';
  private column = false; // something stands in the current line
  private isOpen = false;
  private begun = '';
  private step = '';
  private timer: NodeJS.Timeout | undefined;

  constructor(
    look: Look,
    private readonly keys: Keys,
  ) {
    this.queue = new Queue(look.lines);
    this.filters = filters(look);
  }

  /** Makes it empty, for another run. */
  reset(look: Look): void {
    this.queue = new Queue(look.lines);
    this.filters = filters(look);
    this.last = 'sidecar';
    this.column = false;
    this.step = '';
    this.write('\x1b[0m\x1b[H\x1b[2J\x1b[3J');
  }

  name(text: string): void {
    this.names.fire(say.line(text, 60));
  }

  /** Takes output. The first is shown at once, and what follows gathered. */
  add(source: Source, text: string): void {
    this.queue.add(source, text);
    if (this.isOpen && !this.timer) this.tick();
  }

  /** Adds a line of sidecar's own. */
  note(text: string): void {
    this.add('sidecar', say.line(text, 2000) + '\n');
  }

  /** Shows in the last line how far something is, until something else is shown there; "" takes it away. */
  progress(text: string): void {
    if (this.column || text === this.step) return;
    this.step = text;
    this.write(text === '' ? '\r\x1b[K' : `\r\x1b[K\x1b[0;2m${say.line(text, 120)}\x1b[0m`);
  }

  open(): void {
    this.isOpen = true;
    this.write(this.begun);
    this.begun = '';
    if (!this.queue.isEmpty) this.tick();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isOpen = false;
    this.queue.clear();
    this.keys.closed();
  }

  handleInput(data: string): void {
    if (data === '\x03') this.keys.cancel();
    else if (data === 'r') this.keys.again();
    else if (data === 'q') this.keys.close();
  }

  private tick(): void {
    this.timer = undefined;
    if (this.queue.isEmpty) return;
    this.progress('');
    this.write(
      this.queue
        .take()
        .map((c) => this.render(c))
        .join(''),
    );
    this.timer = setTimeout(() => {
      this.tick();
    }, pause);
  }

  private render({ source, text }: Chunk): string {
    const turn = source === this.last ? '' : this.turn(source);
    this.last = source;
    if (source === 'sidecar') {
      const before = this.column ? '\r\n' : '';
      this.column = false;
      return `${turn}${before}${text.replace(/\n/g, '\r\n')}`;
    }
    this.column = !text.endsWith('\n');
    return turn + this.filters[source].write(text);
  }

  /** Changes to the colours of another source. */
  private turn(source: Source): string {
    return source === 'sidecar' ? '\x1b[0;2m' : this.filters[source].style();
  }

  private write(text: string): void {
    if (this.isOpen) this.writes.fire(text);
    else this.begun += text;
  }
}

function filters(look: Look): Record<'stdout' | 'stderr', Filter> {
  return { stdout: new Filter(look.colors), stderr: new Filter(look.colors, look.colors ? '31' : '') };
}
