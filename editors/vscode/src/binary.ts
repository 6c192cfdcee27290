// Where the program is.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** What it is looked for with. */
export interface Search {
  /** setting is sidecar.path. */
  setting: string;
  /** path is PATH, home the person's folder, user their name. */
  path: string;
  home: string;
  user: string;
  /** extension is the folder of the extension, folders are those of the window: what lies in these is no program of the person's. */
  extension: string;
  folders: string[];
  /** isProgram says whether a path is a file that can be executed; left out, the disk says it. */
  isProgram?: (path: string) => boolean;
}

/** Where it is, or why it is not there. */
export type Found = { path: string; why?: undefined } | { path?: undefined; why: string };

/** Finds it: the setting, PATH, the folders that package managers use (an editor's PATH is often not the shell's), what came with the extension. */
export function find(s: Search): Found {
  const isProgram = s.isProgram ?? onDisk;
  if (s.setting !== '') {
    const path = s.setting.replace(/^~(?=\/|$)/, s.home);
    if (!isAbsolute(path)) return { why: `sidecar.path is ${s.setting}; it must be an absolute path` };
    return isProgram(path) ? { path } : { why: `${path} (sidecar.path) is no program` };
  }
  const inside = (dir: string): boolean => s.folders.some((f) => dir === f || dir.startsWith(f + '/'));
  const named = s.path.split(delimiter).filter((dir) => isAbsolute(dir) && !inside(resolve(dir)));
  for (const dir of [...named, ...usual(s), join(s.extension, 'bin')]) {
    const path = join(dir, 'sidecar');
    if (isProgram(path)) return { path };
  }
  return { why: 'the program sidecar is not to be found' };
}

function usual(s: Search): string[] {
  return [
    ...['.local/bin', 'bin', 'go/bin', '.nix-profile/bin', '.local/state/nix/profile/bin'].map((d) => join(s.home, d)),
    `/etc/profiles/per-user/${s.user}/bin`,
    '/run/current-system/sw/bin',
    '/nix/var/nix/profiles/default/bin',
    '/usr/local/bin',
    '/usr/bin',
    '/opt/homebrew/bin',
  ];
}

function onDisk(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
