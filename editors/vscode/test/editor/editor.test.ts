// The extension in a real editor, with real sandboxes and real clients.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test as it } from 'node:test';
import { Server, sidecar } from './server';
import { Browser, type Workbench } from './workbench';

const server = new Server();
const vsix = process.env.VSIX ?? resolve(__dirname, '../../../dist/sidecar.vsix');
const agents: ChildProcess[] = [];
let browser: Browser;
let window: Workbench;
let root: string;

const notes = `# Notes

\`\`\`bash
printf '\\033[32mgreen\\033[0m from %s\\n' "$PWD"; echo grumble >&2
\`\`\`

\`\`\`brainfudge
+
\`\`\`
`;

/** Escapes that would write elsewhere, ask the terminal, or touch the clipboard; and bytes that are no UTF-8. */
const hostile = [
  String.raw`\033]0;owned\007\033]52;c;cm0gLXJm\007\033]8;;command:workbench.action.quit\033\\link\033]8;;\033\\`,
  String.raw`\033[2J\033[H\033[?1049h\033[999;1Hmoved\033[6n\033]633;P;Cwd=/\007\033P\$q\033\\ \033[8mhidden \377\376 \302\2331m end\n`,
].join('');

/** What is seen in the picture. */
const scene = {
  'rainfall.csv': 'month,mm\nJan,62\nFeb,48\nMar,71\nApr,39\nMay,55\n',
  'test_rain.py':
    'import unittest\nclass Rain(unittest.TestCase):\n    def test_sum(self): self.assertEqual(sum([62, 48]), 110)\n',
  'train.py': 'for epoch in range(900):\n    print("epoch", epoch, flush=True)\n    __import__("time").sleep(1)\n',
  'README.md': `# Rainfall

How much rain fell, month by month:

\`\`\`python
import csv

rows = list(csv.DictReader(open("rainfall.csv")))
for row in rows:
    mm = int(row["mm"])
    colour = 34 if mm > 60 else 36
    print(f'{row["month"]}  \\033[{colour}m{"█" * (mm // 2)}\\033[0m {mm}')
print(f'\\033[1mtotal {sum(int(r["mm"]) for r in rows)} mm\\033[0m')
\`\`\`
`,
};

before(async () => {
  root = server.project('mein Prüfling ☃', {
    'notes.md': notes,
    ...Object.fromEntries(['cancel', 'kill', 'other'].map((w) => [`${w}.sh`, `echo begun to ${w}; sleep 300\n`])),
    'hostile.sh': `echo before\nprintf '${hostile}'\n`,
  });
  await server.start(vsix);
  browser = await Browser.start();
  window = await browser.open(server.url(root));
});

after(async () => {
  for (const child of agents) child.kill();
  await browser.stop();
  server.stop();
});

/** A test; with SHOTS, a folder, what the window shows when it fails is kept there. */
function test(name: string, act: () => Promise<void> | void): void {
  void it(name, async () => {
    try {
      await act();
    } catch (err) {
      const dir = process.env.SHOTS;
      if (dir) await browser.pictures((i) => join(dir, `${name.replace(/\W+/g, '-')}-${i}.png`));
      throw err;
    }
  });
}

/** An agent: a real MCP client, in a process of its own. */
function agent(
  code: string,
  language = 'bash',
  name = 'sidecar-test',
  cwd = root,
): { ended: Promise<{ code: number | null; text: string }> } {
  const program = resolve(__dirname, '../../../../../test/mcp/run-code');
  const child = spawn(program, ['--language', language, '-'], {
    cwd,
    env: { ...server.env, SIDECAR_BIN: sidecar, RUN_CODE_CLIENT: name },
  });
  agents.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (text += data.toString()));
  child.stdin.end(code);
  return {
    ended: new Promise((done) =>
      child.on('close', (status) => {
        done({ code: status, text });
      }),
    ),
  };
}

test('nothing is started for a folder that is not trusted; trust starts it', async () => {
  await window.status.waitFor();
  await window.says('sidecar');
  await window.view();
  await window.page.locator('.welcome-view', { hasText: 'not trusted' }).first().waitFor();
  assert.throws(() => server.status(root).pid.toFixed());
  await window.command('Workspaces: Manage Workspace Trust');
  await window.page
    .locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ })
    .first()
    .click();
  await window.until('a sidecar', () => { try { return server.status(root).pid > 0; } catch { return false; } }); // prettier-ignore
});

test('the lens of a fence runs it, and its output appears', async () => {
  await window.open('notes.md');
  await window.page.locator('.codelens-decoration a', { hasText: 'Run in sandbox' }).first().click();
  const text = await window.prints(/exit 0 in/);
  assert.match(text, new RegExp(`green from ${root}`));
  assert.match(text, /grumble/);
  assert.equal(await window.page.locator('.xterm-rows span.xterm-fg-2', { hasText: 'green' }).count(), 1);
  await window.row(/bash: printf/).waitFor();
});

test('a run over MCP appears by itself, is read and cancelled in the view', async () => {
  const run = agent('echo from the agent; sleep 300');
  const row = window.row('bash: echo from the agent');
  await row.waitFor();
  await window.says('1 running');
  assert.match(await row.innerText(), /sidecar-test 1\.0\.0/);
  await row.click();
  await window.prints('from the agent');
  await row.hover();
  await row.locator('.action-label[aria-label^="Cancel"]').click();
  assert.equal((await run.ended).code, 137);
  await window.row(/echo from the agent.*cancelled after/).waitFor();
  await window.prints('cancelled after');
});

/** A program that fetches a name, which no setting allows. */
const fetching = (name: string): string => `import urllib.request
try: print(urllib.request.urlopen("http://${name}/", timeout=60).read())
except Exception as e: print("got", e, flush=True)
`;

test('questions of a run over MCP are put one after the other, and answered in the editor', async () => {
  const run = agent(fetching('yes.invalid') + fetching('no.invalid'), 'python');
  const first = window.notice('May this run reach yes.invalid:80?');
  await first.waitFor();
  await window.says('1 asked');
  assert.match(await first.innerText(), /sidecar-test 1\.0\.0 asks/);
  assert.match(await first.innerText(), /Always writes network\.approved: \[yes\.invalid\] to .*config\.yaml/);
  assert.deepEqual(await first.locator('.monaco-button').allInnerTexts(), ['Once', 'Always', 'No']);
  await first.locator('.monaco-button', { hasText: 'Once' }).click();
  const second = window.notice('May this run reach no.invalid:80?');
  await second.locator('.monaco-button', { hasText: 'No' }).click();
  const { text } = await run.ended;
  assert.match(text, /^got (?!.*no rule allows yes)/);
  assert.equal((text.match(/got/g) ?? []).length, 2);
  await window.row(/python: import.*1 denied/).waitFor();
  await window.row('denied GET no.invalid:80').waitFor();
});

test('findings are in the view, and a notification', async () => {
  const run = agent('mkdir -p sub; echo x >sub/.envrc');
  await window.notice('disarmed sub/.envrc').waitFor();
  await window.row(/mkdir -p sub.*1 finding/).waitFor();
  assert.equal((await run.ended).code, 0);
});

test('the environments and their languages are listed', async () => {
  await window.row(/^host\s*this machine's/).waitFor();
  await window.row(/^bash\s*\/usr/).waitFor();
  await window.row(/^python\s*3\./).waitFor();
});

test('what runs is the text that is seen, saved or not', async () => {
  await window.command('File: New Untitled Text File');
  await window.page.keyboard.type('#!/bin/bash\necho never saved $((6 * 7))\n');
  await window.page.locator('.codelens-decoration a', { hasText: 'Run in sandbox' }).first().waitFor();
  await window.page.keyboard.press('Control+Alt+Enter');
  await window.prints(/never saved 42\nexit 0 in/);
});

test('a fence of an unknown language says which are known', async () => {
  await window.open('notes.md');
  await window.cursor('brainfudge');
  await window.page.keyboard.press('Control+Alt+Enter');
  await window.notice('unknown language "brainfudge"').waitFor();
  await window.clear();
});

test('hostile output is harmless', async () => {
  const title = await window.page.title();
  await window.run('hostile.sh');
  const text = await window.prints(/ end\nexit 0 in/);
  assert.match(text, /^before\nlinkmoved hidden \ufffd+ +end\nexit 0/);
  assert.equal(await window.page.title().then((t) => t.includes('owned')), title.includes('owned'));
  assert.equal(await window.page.locator('.xterm-rows', { hasText: 'hidden' }).count(), 1);
});

test('a run of this window is cancelled in its terminal, and run again', async () => {
  await window.run('cancel.sh');
  await window.prints('begun to cancel');
  await window.page.locator('.terminal-wrapper.active .xterm').click();
  await window.page.keyboard.press('Control+c');
  await window.prints('cancelled after');
  await window.page.keyboard.press('r');
  await window.prints(/^begun to cancel$/);
  await window.says('1 running');
  await window.command('Sidecar: Cancel a Run');
  await window.prints('cancelled after');
});

test('the code of a run is opened', async () => {
  const row = window.row(/bash: echo begun to cancel/);
  await row.hover();
  await row.locator('.action-label[aria-label^="Open the Code"]').click();
  await window.page.locator('.tab.active', { hasText: '.sh' }).waitFor();
  await window.page.locator('.monaco-editor .view-line', { hasText: 'sleep 300' }).first().waitFor();
});

test('the sidecar is killed: it is connected again, and that is said', async () => {
  await window.run('kill.sh');
  await window.prints('begun to kill');
  process.kill(server.status(root).pid, 'SIGKILL');
  await window.notice('died; its runs ended with it').waitFor();
  await window.notice('connected again with the sidecar of').waitFor();
  assert.doesNotMatch(await window.prints(/sidecar|connection/), /exit 0/);
  await window.says(/^\s*sidecar$/);
  await window.clear();
});

test('`sidecar lsp` is killed: it is started again, and the next run works', async () => {
  const { clients } = server.status(root);
  process.kill(clients.find((c) => c.name === 'code-server')?.pid ?? 0, 'SIGKILL');
  await window.notice('ended with signal SIGKILL; starting it again').waitFor();
  await window.until('another', () => server.status(root).clients.some((c) => c.name === 'code-server'));
  await window.clear();
  await window.open('notes.md');
  await window.page.locator('.codelens-decoration a', { hasText: 'Run in sandbox' }).first().click();
  const text = await window.prints(/exit 0/);
  assert.match(text, /green from /); // the order of two streams is not kept
  assert.match(text, /grumble/);
});

test('two windows on one folder: each sees the runs of the other', async () => {
  const other = await browser.open(server.url(root));
  await other.says('sidecar');
  await other.run('other.sh');
  await window.page.bringToFront();
  await window.says('1 running');
  await window.command('Sidecar: Cancel a Run');
  await other.page.bringToFront();
  await other.prints('cancelled after');
  await other.page.close();
});

test('two folders in one window, each with its project', async () => {
  const second = server.project('other', { 'where.sh': 'pwd\n' });
  const file = server.write('both.code-workspace', JSON.stringify({ folders: [{ path: root }, { path: second }] }));
  const other = await browser.open(server.url(file));
  await other.hasFolders();
  await trust(other);
  await other.run(join(second, 'where.sh'));
  await other.prints(/projects\/other\nexit 0/);
  await other.view();
  await other.row('bash: pwd').waitFor();
  await other.page.close();
});

test('no program, and one that is too old: said, with what to do', async () => {
  const old = server.write('old', '#!/bin/sh\necho "unknown command $1" >&2; exit 64\n', 0o755);
  for (const [name, path, says] of [
    ['missing', '/nowhere/sidecar', '/nowhere/sidecar (sidecar.path) is no program'],
    ['old', old, 'is ' + old + ' older than this extension?'],
  ] as const) {
    const folder = server.project(name, {
      '.vscode/settings.json': JSON.stringify({ 'sidecar.path': path }),
      'a.sh': 'true\n',
    });
    const other = await browser.open(server.url(folder));
    await trust(other);
    await other.notice(says).waitFor();
    await other.says(name === 'missing' ? 'missing' : 'failed');
    await other.page.close();
  }
});

test('agents of this editor are offered sidecar mcp', async () => {
  await window.page.bringToFront();
  await window.command('MCP: List Servers');
  await window.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Sidecar' }).first().waitFor();
  await window.page.keyboard.press('Escape');
});

test('a picture of it', async () => {
  const file = process.env.PICTURE ?? join(server.dir, 'picture.png');
  const weather = server.project('weather', scene);
  server.settings({ 'workbench.colorTheme': 'Dark Modern', 'editor.minimap.enabled': false });
  const other = await browser.open(server.url(weather));
  await trust(other);
  await other.says(/^\s*sidecar$/);
  await other.page.mouse.move(349, 300);
  await other.page.mouse.down();
  await other.page.mouse.move(510, 300, { steps: 4 });
  await other.page.mouse.up();
  await other.view();
  await agent('ls; python3 -m unittest -v 2>&1 | tail -3', 'bash', 'terminal-agent', weather).ended;
  await agent('mkdir -p scripts && echo "export TOKEN=x" >scripts/.envrc', 'bash', 'code-agent', weather).ended;
  await other.open('README.md');
  await other.page.locator('.codelens-decoration a', { hasText: 'Run in sandbox' }).first().click();
  await other.prints(/total.*\n.*exit 0/s);
  void agent(scene['train.py'], 'python', 'terminal-agent', weather);
  await other.row(/epoch/).waitFor();
  await other.clear();
  void agent(fetching('pypi.org'), 'python', 'code-agent', weather);
  await other.notice('May this run reach pypi.org:80?').waitFor();
  await other.row(/1 question/).waitFor();
  await other.page.screenshot({ path: file });
  assert.ok(statSync(file).size > 40_000);
  await other.page.close();
});

test('nothing was asked of other machines', () => {
  assert.deepEqual([...browser.strange], []);
});

async function trust(at: Workbench): Promise<void> {
  await at.status.waitFor();
  await at.command('Workspaces: Manage Workspace Trust');
  await at.page
    .locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ })
    .first()
    .click();
  await at.page.locator('.workspace-trust-editor', { hasText: 'You trust' }).waitFor();
  await at.page.locator('[class*="modal"] .action-label.codicon-close').first().click();
  await at.page.locator('.workspace-trust-editor').waitFor({ state: 'detached' });
}
