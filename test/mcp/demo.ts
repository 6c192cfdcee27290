// A demonstration: an MCP client runs code in a throw-away project through `sidecar mcp`, then tries to reach
// outside of it, and looks on the host whether it did. Exit status 1 says that something was not held off.
//
//   node dist/demo.js /path/to/sidecar [bash]
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { type Attack, attacks, gitObeys, type Scene } from './attacks.js';
import { freshFolder, freshProject, git, remove } from './project.js';
import { type Answer, type Run, Sidecar } from './sidecar.js';

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code: number) => (text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, red, green, cyan] = [paint(1), paint(2), paint(31), paint(32), paint(36)] as const;
const say = (text = ''): void => { process.stdout.write(`${text}\n`); };
const indent = (text: string): string => text.trimEnd().split('\n').map((line) => dim(`    │ ${line}`)).join('\n');

const work = {
  python: `
import csv, subprocess, time
rows = list(csv.DictReader(open("rainfall.csv")))
for row in rows:
    print(row["month"], "#" * int(row["mm"]), flush=True)
    time.sleep(0.15)
total = sum(int(row["mm"]) for row in rows)
open("total.txt", "w").write(f"{total} mm\\n")
subprocess.run(["git", "add", "total.txt"], check=True)
subprocess.run(["git", "commit", "--quiet", "--message=Sum up the rain"], check=True)
print(f"total {total} mm, committed", flush=True)`,
  bash: `
total=0
while IFS=, read -r month mm; do
  [ "$month" = month ] && continue
  echo "$month $mm"; total=$((total + mm)); sleep 0.15
done < rainfall.csv
echo "$total mm" > total.txt
git add total.txt && git commit --quiet --message="Sum up the rain" && echo "total $total mm, committed"`,
};

/** A server on the host, that a run must not reach. */
async function listener(): Promise<{ host: string; port: number; visits: () => number; close: () => void }> {
  let visits = 0;
  const server = createServer((socket) => { visits++; socket.destroy(); });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const outside = Object.values(networkInterfaces()).flat().find((i) => i?.family === 'IPv4' && !i.internal);
  const host = outside?.address ?? '127.0.0.1';
  // The control: on the host it can be reached.
  const socket = connect(port, host);
  await once(socket, 'close');
  const before = visits;
  if (before === 0) throw new Error(`the host's own server at ${host}:${port} cannot be reached even from the host`);
  return { host, port, visits: () => visits - before, close: () => { server.close(); } };
}

type Language = 'python' | 'bash';

async function showTools(sidecar: Sidecar): Promise<Language> {
  const { tools } = await sidecar.client.listTools();
  say(`${bold('Tools')}: ${tools.map((tool) => tool.name).join(', ')}`);
  const envs = await sidecar.envs();
  if (envs.isError) throw new Error(envs.text);
  const languages = envs.structured.environments.flatMap((e) => e.languages);
  say(`${bold('Languages here')}: ${languages.map((l) => [l.language, l.version].filter(Boolean).join(' ')).join(', ')}`);
  return languages.some((l) => l.language === 'python') ? 'python' : 'bash';
}

/** Runs code and shows what it prints while it lasts. */
async function show(sidecar: Sidecar, language: Language, code: string): Promise<Answer<Run>> {
  const answer = await sidecar.run({ language, code }, (text) => { say(indent(text)); });
  if (answer.isError) throw new Error(answer.text);
  return answer;
}

async function honestWork(sidecar: Sidecar, language: Language, root: string): Promise<void> {
  say(`\n${bold('An agent works')}: it reads a file of the project, writes one and commits it (${language}).`);
  const { structured: run } = await show(sidecar, language, work[language]);
  say(`  exit status ${run.exitCode} after ${run.seconds.toFixed(2)} s in ${cyan(run.workspace)} (from the client's ${run.workspaceSource})`);
  const log = git(root, 'log', '--format=%h %an: %s', '-1', '--', 'total.txt');
  if (run.exitCode !== 0 || readFileSync(join(root, 'total.txt'), 'utf8') !== '30 mm\n' || !log) {
    throw new Error(`the work did not arrive on the host\n${run.stderr.text}`);
  }
  say(`  ${green('✓')} on the host: total.txt says 30 mm; git log says "${log}"`);
}

/** Tries one attack and tells whether it was held off. */
async function attempt(sidecar: Sidecar, language: Language, scene: Scene, attack: Attack): Promise<boolean> {
  say(`\n  it tries to ${bold(attack.name)}`);
  const { structured: run, text } = await show(sidecar, language, attack[language](scene));
  for (const finding of run.findings ?? []) say(indent(`${finding.path}: ${finding.reason} (${finding.action})`));
  const damage = attack.damage(scene, text);
  say(damage === null ? `  ${green('✓ held off')}` : `  ${red(`✗ NOT held off: ${damage}`)}`);
  return damage === null;
}

async function tell(sidecar: Sidecar, scene: Scene, wanted: string | undefined): Promise<boolean> {
  const found = await showTools(sidecar);
  const language = wanted === 'bash' ? 'bash' : found;
  await honestWork(sidecar, language, scene.root);
  say(`\n${bold('Now it misbehaves')}. What it prints is what it saw; the verdict is from the host.`);
  let held = true;
  for (const attack of attacks) held = (await attempt(sidecar, language, scene, attack)) && held;
  say(held ? `\n${green(bold('All of it was held off'))}, and the work is in the project.` : `\n${red(bold('Something was not held off.'))} Run \`sidecar doctor\`, and please report it.`);
  return held;
}

async function demo(binary: string, wanted: string | undefined): Promise<boolean> {
  const folder = freshFolder('demo');
  const server = await listener();
  let sidecar: Sidecar | undefined;
  try {
    const root = freshProject(folder, 'my project', { 'rainfall.csv': 'month,mm\nmay,9\njune,14\njuly,7\n' });
    const secret = join(folder, 'not-in-the-project.txt');
    writeFileSync(secret, `hunter2-${process.pid}\n`);
    const config = readFileSync(join(root, '.git/config'), 'utf8');
    const scene = { root, secret, config, marker: join(folder, 'escaped'), ...server };
    if (!gitObeys(scene)) throw new Error('git on this machine obeys neither hooks nor core.fsmonitor, so there is nothing to show');
    say(`${bold('Project')}: ${cyan(root)} (thrown away afterwards)`);
    sidecar = await Sidecar.connect(binary, { roots: [root] });
    return await tell(sidecar, scene, wanted);
  } finally {
    await sidecar?.close();
    server.close();
    remove(folder);
  }
}

const binary = process.argv[2];
if (!binary) {
  process.stderr.write('usage: node dist/demo.js PATH-OF-SIDECAR [bash]\n');
  process.exit(2);
}
try {
  process.exitCode = (await demo(resolve(binary), process.argv[3])) ? 0 : 1;
} catch (e) {
  process.stderr.write(`${red('The demonstration failed')}: ${e instanceof Error ? e.message : String(e)}\n`);
  process.exitCode = 1;
}
