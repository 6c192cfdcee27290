// Real Nix with the offline stand-in for nixpkgs (test/nixpkgs), and what of it a test looks at from outside.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { remove } from './project.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

const program = (name: string): string | undefined => process.env.PATH?.split(delimiter).map((dir) => join(dir, name)).find((file) => {
  try {
    return execFileSync('test', ['-x', file]).length === 0;
  } catch {
    return false;
  }
});

/** Why Nix cannot be tested here, or false; where CI is set, that is a failure. */
export function cannot(): string | false {
  const missing = ['nix', 'bwrap', 'apt-get', 'dpkg-deb'].filter((name) => program(name) === undefined);
  const why = missing.length > 0 ? `needs ${missing.join(', ')}` : process.getuid?.() !== 0 && "needs root: the machine's store is written";
  if (why !== false && process.env.CI) throw new Error(why);
  return why;
}

/** A nixpkgs that builds offline, a cache of environments, and a person's settings that name both. */
export class Nixpkgs {
  readonly folder = mkdtempSync(join(tmpdir(), 'sidecar-nix-'));
  /** The stand-in, sidecar's own flake, and the person's. */
  readonly tree = join(this.folder, 'nixpkgs');
  readonly sidecar = join(this.folder, 'sidecar');
  readonly flake = join(this.folder, 'flake');
  /** What a server's process is given. */
  readonly env: Record<string, string>;
  private readonly starts = join(this.folder, 'starts');

  /** The outputs are those of the person's flake; the settings name an environment for each of their names. */
  constructor(outputs: Record<string, string>) {
    const [bin, config] = [join(this.folder, 'bin'), join(this.folder, 'config', 'sidecar')];
    for (const dir of [bin, config, this.sidecar, this.flake]) mkdirSync(dir, { recursive: true });
    cpSync(join(repository, 'test/nixpkgs'), this.tree, { recursive: true });
    cpSync(join(repository, 'flake.nix'), join(this.sidecar, 'flake.nix'));
    cpSync(join(repository, 'nix'), join(this.sidecar, 'nix'), { recursive: true });
    execFileSync(join(this.tree, 'setup.sh'), { env: { ...process.env, NIX_CONFIG: 'build-users-group =' } });
    writeFileSync(join(this.folder, 'nix.conf'), 'build-users-group =\n');
    writeFileSync(join(this.flake, 'flake.nix'), this.flakeOf(Object.entries(outputs).map(([name, value]) => `packages.x86_64-linux.${name} = ${value};`).join('\n')));
    // Every start of nix is written down.
    const nix = program('nix') ?? '';
    writeFileSync(join(bin, 'nix'), `#!/bin/sh\necho "$*" >>${this.starts}\nexec ${nix} "$@"\n`);
    chmodSync(join(bin, 'nix'), 0o755);
    symlinkSync(join(dirname(nix), 'nix-store'), join(bin, 'nix-store'));
    writeFileSync(this.starts, '');
    const environments = Object.keys(outputs).map((name) => `    ${name}: path:${this.flake}#${name}\n`).join('');
    writeFileSync(join(config, 'config.yaml'), `nix:\n  nixpkgs: path:${this.tree}\n  program: ${bin}/nix\n  offline: true\n  environments:\n${environments}`);
    this.env = {
      XDG_CONFIG_HOME: join(this.folder, 'config'), XDG_CACHE_HOME: join(this.folder, 'cache'), NIX_USER_CONF_FILES: join(this.folder, 'nix.conf'),
    };
  }

  /** A flake with the stand-in as nixpkgs. */
  flakeOf(outputs: string): string {
    return `{
  inputs.nixpkgs.url = "path:${this.tree}";
  inputs.sidecar = { url = "path:${this.sidecar}"; inputs.nixpkgs.follows = "nixpkgs"; };
  outputs = { self, nixpkgs, sidecar }: let pkgs = nixpkgs.legacyPackages.x86_64-linux; in {\n${outputs}\n  };
}
`;
  }

  /** How often nix was started to build something. */
  builds(): number {
    return readFileSync(this.starts, 'utf8').split('\n').filter((line) => line.includes(' build ')).length;
  }

  /** The closure of the one environment whose own path is among these, as nix-store knows it. */
  closure(paths: string[]): string[] {
    const roots = join(this.folder, 'cache/sidecar/nix/roots');
    const own = [...new Set(readdirSync(roots).map((name) => readlinkSync(join(roots, name))))].filter((path) => paths.includes(path));
    return own.length === 1 ? execFileSync('nix-store', ['-qR', ...own], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim().split('\n').sort() : own;
  }

  /** Has Nix's garbage collector take an environment, as if nothing had kept it. */
  collect(path: string): void {
    const roots = join(this.folder, 'cache/sidecar/nix/roots');
    for (const name of readdirSync(roots).filter((each) => readlinkSync(join(roots, each)) === path)) rmSync(join(roots, name));
    execFileSync('nix-store', ['--delete', path], { env: { ...process.env, NIX_CONFIG: 'build-users-group =' }, stdio: 'ignore' });
  }

  remove(): void {
    remove(this.folder);
  }
}
