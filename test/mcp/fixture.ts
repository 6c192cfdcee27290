// What the tests share: the binary under test, folders that go away, processes as the host sees them.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { freshFolder, freshProject, remove } from './project.js';
import { type Options, Sidecar } from './sidecar.js';

const { SIDECAR_BIN } = process.env;
if (!SIDECAR_BIN) throw new Error('set SIDECAR_BIN to the sidecar binary under test');

/** The binary under test. */
export const binary: string = resolve(SIDECAR_BIN);

const endings = new WeakMap<TestContext, (() => unknown)[]>();

/**
 * Does something after the test, the last named first: node:test's own hooks run in the order of their naming, and
 * would take a project away from under a server that still serves it.
 */
export function afterwards(t: TestContext, act: () => unknown): void {
  const known = endings.get(t);
  if (known) {
    known.unshift(act);
    return;
  }
  const acts = [act];
  endings.set(t, acts);
  t.after(async () => {
    for (const each of acts) await each();
  });
}

/** A folder that goes away after the test. */
export function folder(t: TestContext): string {
  const path = freshFolder('test');
  afterwards(t, () => { remove(path); });
  return path;
}

/** A git project that goes away after the test. */
export function project(t: TestContext, name = 'my project'): string {
  return freshProject(folder(t), name, { 'data.txt': 'six times seven\n' });
}

/** Keeps what runs leave (the files with their whole output) out of the user's folders. */
export function state(t: TestContext): Record<string, string> {
  return { XDG_STATE_HOME: folder(t) };
}

/** A connected client, closed after the test. */
export async function connect(t: TestContext, options: Options): Promise<Sidecar> {
  const sidecar = await Sidecar.connect(binary, { ...options, env: { ...state(t), ...options.env } });
  afterwards(t, () => sidecar.close());
  return sidecar;
}

/** The processes of the host whose command line or environment holds a word. */
export function processesWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid).filter((pid) => {
    try {
      return ['cmdline', 'environ'].some((file) => readFileSync(join('/proc', pid, file), 'latin1').includes(word));
    } catch {
      return false; // it ended meanwhile, or is not ours to see
    }
  });
}

/** The sandboxes, also ones that never got to run anything, that hold a pipe to a process with the word. */
export function sandboxesOf(word: string): string[] {
  const pipes = (pid: string): string[] => {
    try {
      return readdirSync(join('/proc', pid, 'fd')).map((fd) => readlinkSync(join('/proc', pid, 'fd', fd))).filter((to) => to.startsWith('pipe:'));
    } catch {
      return [];
    }
  };
  const ours = new Set(processesWith(word).flatMap(pipes));
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      return readFileSync(join('/proc', pid, 'comm'), 'utf8') === 'bwrap\n' && pipes(pid).some((pipe) => ours.has(pipe));
    } catch {
      return false;
    }
  });
}

/** Waits until something holds. */
export async function eventually(what: string, holds: () => boolean, patience = 15_000): Promise<void> {
  for (const end = Date.now() + patience; !holds(); await new Promise((done) => setTimeout(done, 10))) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
  }
}

/** A word that occurs nowhere else. */
export function uniqueWord(): string {
  return `word-${process.pid}-${Math.random().toString(36).slice(2)}`;
}
