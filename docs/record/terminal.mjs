// A real terminal, driven as by a person: tmux in a pty of script(1), watched through xterm.js. It keeps what was printed
// with timings, where typing and reading take a person's time and waiting at most a moment.
import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as after } from 'node:timers/promises';
import xterm from '@xterm/headless';

export const columns = 96;
export const rows = 22;
/** How long typing a character takes, and the longest a wait is shown, in seconds. */
const keystroke = 0.045;
const longest = 0.9;
/** How long something may take until the recording is given up, in seconds. */
const patience = 60;

export const newScreen = () => new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });

export class Terminal {
  /** What was printed: asciicast's events, [seconds, "o", text]. */
  events = [];
  #clock = 0;
  #last = performance.now();
  #screen = newScreen();
  #heard = deferred();
  #child;
  #socket;

  /** Starts a shell; prompt is what it shows when it waits. */
  constructor(prompt, environment, folder) {
    this.prompt = prompt;
    this.#socket = `${folder}/tmux`;
    const shell = `stty cols ${columns} rows ${rows}; exec tmux -S ${folder}/tmux -f ${folder}/tmux.conf new-session bash --noprofile --rcfile ${folder}/bashrc`;
    this.#child = spawn('script', ['-qfec', shell, '/dev/null'], { env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout.setEncoding('utf8').on('data', (text) => this.#heed(text));
  }

  #heed(text) {
    const now = performance.now();
    this.#clock += Math.min((now - this.#last) / 1000, longest);
    this.#last = now;
    this.events.push([Number(this.#clock.toFixed(3)), 'o', text]);
    this.#screen.write(text, () => {
      this.#heard.resolve();
      this.#heard = deferred();
    });
  }

  /** The screen's lines, without blanks at their ends. */
  lines() {
    const buffer = this.#screen.buffer.active;
    return Array.from({ length: rows }, (_, y) => buffer.getLine(buffer.baseY + y)?.translateToString(true).trimEnd() ?? '');
  }

  /** Waits until the screen is as wanted: a function of its lines and of the line of the cursor. */
  async until(wanted, what) {
    const deadline = performance.now() + patience * 1000;
    for (;;) {
      const lines = this.lines();
      if (wanted(lines, lines[this.#screen.buffer.active.cursorY] ?? '')) return;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`waited in vain for ${what}:\n${lines.join('\n')}`);
      await Promise.race([this.#heard.promise, after(Math.min(left, 200))]);
    }
  }

  async ready() {
    await this.until((_, line) => line === this.prompt, 'the prompt');
  }

  async shows(text) {
    await this.until((lines) => lines.some((line) => line.includes(text)), JSON.stringify(text));
  }

  /** Types a line, each character when the one before is shown, and ends it. */
  async type(text) {
    for (const character of text) {
      const heard = this.#heard.promise;
      this.#child.stdin.write(character);
      await Promise.race([heard, after(1000)]);
      this.#pass(keystroke);
    }
    this.pause(0.35);
    this.#child.stdin.write('\r');
  }

  /** Types a command and waits for its end. */
  async command(text) {
    await this.ready();
    await this.type(text);
    await this.until((lines, line) => line === this.prompt && lines.some((l) => l.startsWith(this.prompt + ' ')), `the end of ${text}`);
  }

  /** Presses a key that is not shown. */
  press(key) {
    this.#child.stdin.write(key);
  }

  /** Tells tmux something that a viewer need not see typed. */
  tmux(...args) {
    const { status, stderr } = spawnSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
  }

  /** Time for reading, in seconds. */
  pause(seconds) {
    this.#clock += seconds;
    this.#last = performance.now();
  }

  /** What typing takes is a person's pace, whatever it took here. */
  #pass(seconds) {
    this.#clock = (this.events.at(-1)?.[0] ?? 0) + seconds;
    this.#last = performance.now();
  }

  get seconds() {
    return this.#clock;
  }

  /** Ends the shells, and with them the terminal. */
  async end() {
    const closed = new Promise((done) => { this.#child.once('close', done); });
    this.tmux('kill-server');
    await closed;
  }
}

function deferred() {
  let resolve;
  const promise = new Promise((done) => { resolve = done; });
  return { promise, resolve };
}
