// The settings, as package.json declares them.
import { workspace } from 'vscode';

/** The settings that are sidecar's own, by the same names. sidecar reads them from its environment. */
const mirrored = ['limits.timeout', 'limits.memory', 'workspace.access', 'network.run', 'nix.use', 'log.level'];

/** What the person set. */
export const settings = {
  get path(): string {
    return text('path');
  },
  get config(): string {
    return text('config');
  },
  get connectsAtStartup(): boolean {
    return text('connect') !== 'command';
  },
  get offersMcp(): boolean {
    return flag('mcp');
  },
  get approvals(): boolean {
    return flag('approvals');
  },
  get lenses(): boolean {
    return flag('lenses');
  },
  /** The least level of sidecars' logs that the output channel shows. */
  get logLevel(): string {
    return text('log.level') || 'warn';
  },
  get notify(): boolean {
    return flag('notify');
  },
  get inEditor(): boolean {
    return text('output.location') === 'editor';
  },
  get focus(): boolean {
    return flag('output.focus');
  },
  get colors(): boolean {
    return flag('output.colors');
  },
  /** How many lines a terminal keeps. */
  get lines(): number {
    const own = workspace.getConfiguration('terminal.integrated').get<number>('scrollback', 1000);
    return Math.min(Math.max(own, 0), 100_000) + 200;
  },
};

/** The settings that need another process of `sidecar lsp` when they change. */
export const decisive = ['path', 'config', 'approvals', 'lenses', ...mirrored].map((name) => `sidecar.${name}`);

/** The variables that hand sidecar's own settings on. */
export function environment(): Record<string, string> {
  const set: Record<string, string> = {};
  for (const name of mirrored) {
    const value = text(name);
    if (value !== '') set[`SIDECAR_${name.replace('.', '_').toUpperCase()}`] = value;
  }
  if (settings.config !== '') set.SIDECAR_CONFIG = settings.config;
  return set;
}

function text(name: string): string {
  return workspace.getConfiguration('sidecar').get<string>(name, '').trim();
}

function flag(name: string): boolean {
  return workspace.getConfiguration('sidecar').get<boolean>(name, true);
}
