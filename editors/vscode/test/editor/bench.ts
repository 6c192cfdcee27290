// Measures in the real editor: from the key to the first output in the document, beside what the run itself took; and how
// the editor answers while a run prints 100 MB. node out/test/editor/bench.js VSIX
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Server } from './server';
import { Browser, type Workbench } from './workbench';

const server = new Server();

/** What the page measures: the times of keys and of texts that appear, and the longest time that it did not answer. */
const watch = `(() => {
  const w = window.sidecarBench = { key: 0, seen: 0, want: '', lag: 0 };
  addEventListener('keydown', () => { w.key = performance.now(); w.seen = 0; }, true);
  const look = () => { if (w.want && !w.seen && [...document.querySelectorAll('.xterm-rows')].some((r) => r.textContent.includes(w.want))) w.seen = performance.now(); };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  let last = performance.now();
  setInterval(() => { const now = performance.now(); w.lag = Math.max(w.lag, now - last - 10); last = now; }, 10);
})()`;

async function latency(at: Workbench): Promise<void> {
  const over: number[] = [];
  for (let i = 0; i < 12; i++) {
    await at.cursor('echo');
    await at.page.evaluate(`window.sidecarBench.want = 'number ${i}.'`);
    await at.page.keyboard.press('Control+End');
    await at.page.keyboard.type(`\necho number ${i}.`);
    await at.page.keyboard.press('Control+Alt+Enter');
    const text = await at.prints(new RegExp(`number ${i}\\.\\nexit 0 in`));
    const took = Number(/exit 0 in (\d+) ms/.exec(text)?.[1]);
    const [key, seen] = await at.page.evaluate<[number, number]>('[window.sidecarBench.key, window.sidecarBench.seen]');
    console.log(`key to output ${(seen - key).toFixed(0)} ms, the run ${took} ms`);
    if (i > 1) over.push(seen - key - took);
  }
  over.sort((a, b) => a - b);
  console.log(`key to output over the run: median ${over[over.length >> 1]?.toFixed(0) ?? ''} ms`);
}

/** The processes of the extension host, and their resident memory in MB. */
function memory(): number {
  const hosts = readdirSync('/proc').filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      read(`/proc/${pid}/environ`).includes(server.dir) &&
      read(`/proc/${pid}/cmdline`).includes('extensionHost'),
  );
  return Math.max(
    0,
    ...hosts.map((pid) => Number(/VmRSS:\s*(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024),
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

async function loud(at: Workbench): Promise<void> {
  await at.page.evaluate('window.sidecarBench.lag = 0');
  const before = memory();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, memory())), 200);
  const began = Date.now();
  await at.run('loud.sh');
  await at.prints(/the end\nexit 0 in/);
  clearInterval(timer);
  const lag = Number(await at.page.evaluate('window.sidecarBench.lag'));
  console.log(
    `100 MB in ${((Date.now() - began) / 1000).toFixed(1)} s: the window did not answer for ${lag.toFixed(0)} ms at most, the extension host from ${before.toFixed(0)} to ${most.toFixed(0)} MB`,
  );
}

async function main(): Promise<void> {
  const root = server.project('bench', {
    'one.sh': 'echo',
    'loud.sh': 'yes "$(printf "%099d" 7)" | head -c 100000000; echo the end\n',
  });
  await server.start(resolve(process.argv[2] ?? 'dist/sidecar.vsix'));
  server.settings({ 'security.workspace.trust.enabled': false });
  const browser = await Browser.start();
  try {
    const at = await browser.open(server.url(root));
    await at.says(/^\s*sidecar$/);
    await at.page.evaluate(watch);
    await at.run('one.sh');
    await at.prints('exit 0');
    await latency(at);
    await loud(at);
  } finally {
    await browser.stop();
    server.stop();
  }
}

void main();
