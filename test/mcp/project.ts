// Throw-away git projects, and looks at them from outside the sandbox.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh folder outside all projects; its name has a space, as many users' folders have. */
export function freshFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `sidecar ${name} `)));
}

/** A git project with one commit that holds the given files. */
export function freshProject(parent: string, name: string, files: Record<string, string>): string {
  const root = join(parent, name);
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  git(root, 'init', '--quiet', '--initial-branch=main');
  // The machine may have no identity to commit with.
  git(root, 'config', 'user.name', 'Demo');
  git(root, 'config', 'user.email', 'demo@example.org');
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message=Start');
  return root;
}

/** Runs git on the host, as a person in the next terminal would, without that person's own config. */
export function git(root: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/**
 * Removes a folder and all in it. A sidecar that ends may write its last lines there meanwhile; what comes after a folder was
 * listed is not removed by rmSync, however often that tries.
 */
export function remove(folder: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let left = 100; ; left--) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || left === 0) throw error;
      Atomics.wait(pause, 0, 0, 50);
    }
  }
}
