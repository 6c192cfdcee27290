// run_code as a command: takes the place of `sidecar run --language L -` where a test wants one, as an agent would
// run the same code. It reads the code from standard input, starts $SIDECAR_BIN mcp, offers the current folder
// as its root and runs in it, prints what the program printed, the whole of it, and ends with the program's status.
// RUN_CODE_CLIENT is the name that it introduces itself with.
//
//	run-code --language bash - <script
//
// With RUN_CODE_WARM the code runs in a sandbox that was made before, after another run, and whose interpreter waits. Where it
// did not, that is a failure.
//
// Start it by the file of that name without an ending: node itself would obey some of the host's variables.
import { createReadStream, existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Output, type Run, Sidecar } from './sidecar.js';

/** What this ends with where there is no status of the program's. */
const noRun = 125;

const warm = process.env.RUN_CODE_WARM !== undefined;

const environment = (): Record<string, string> => {
  const env: NodeJS.ProcessEnv = { ...process.env, ...(warm && { SIDECAR_PERFORMANCE_WARM: 'always' }) };
  delete env.RUN_CODE_WARM;
  const { RUN_CODE_NODE_OPTIONS: options } = env;
  delete env.RUN_CODE_NODE_OPTIONS;
  delete env.RUN_CODE_CLIENT;
  if (options !== undefined) env.NODE_OPTIONS = options;
  return env as Record<string, string>;
};

/** The current folder, by the name under which the caller knows it. */
function here(): string {
  const { PWD: named } = process.env;
  const real = process.cwd();
  return named !== undefined && existsSync(named) && realpathSync(named) === real ? named : real;
}

/** Prints what a program wrote: where the result has only its ends, the whole from the file that it names. */
async function print(output: Output, to: NodeJS.WriteStream): Promise<void> {
  if (output.truncated && output.file === undefined) throw new Error(`${output.bytes} bytes of output, and no file with the whole`);
  if (output.truncated && output.file !== undefined) await pipeline(createReadStream(output.file), to, { end: false });
  else await new Promise((done) => to.write(output.text, done));
}

function report(run: Run): void {
  // As JSON: names that a run made up must not reach a terminal as they are.
  for (const [what, list] of Object.entries({ finding: run.findings, note: run.notes, gap: run.gaps })) {
    for (const one of list ?? []) console.error(`run-code: ${what}: ${JSON.stringify(one)}`);
  }
  if (run.limit) console.error(`run-code: stopped at the limit of ${run.limit}`);
}

/** How many interpreters wait for code of a workspace: what the host changes meanwhile costs one of them. */
function waiting(workspace: string): number {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      const read = (file: string): string[] => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
      return read('cmdline').some((arg) => arg.startsWith('/run/sidecar/code/')) && readlinkSync(`/proc/${pid}/cwd`) === '/' &&
        read('environ').includes(`SIDECAR_WORKSPACE=${workspace}`);
    } catch {
      return false; // it ended meanwhile, or is not ours to see
    }
  }).length;
}

/** Makes a harmless run, and waits until sandboxes for the next ones stand. */
async function warmUp(sidecar: Sidecar, language: string): Promise<void> {
  const { isError, structured } = await sidecar.run({ language, code: '\n', cwd: here() });
  for (const until = Date.now() + 60_000; !isError && waiting(structured.workspace) < 2; ) {
    if (Date.now() > until) throw new Error('no sandbox was made ahead');
    await pause(10);
  }
}

async function main(args: string[]): Promise<number> {
  const [flag, language, dash] = args;
  const binary = process.env.SIDECAR_BIN;
  if (flag !== '--language' || language === undefined || dash !== '-' || !binary) throw new Error('usage: SIDECAR_BIN=… run-code --language L -');
  const code = await text(process.stdin);
  const { RUN_CODE_CLIENT: name } = process.env;
  const sidecar = await Sidecar.connect(binary, { roots: [here()], env: environment(), cwd: here(), ...(name && { name }) });
  // Ending the connection ends the run.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => { void sidecar.close().then(() => process.exit(noRun)); });
  try {
    if (warm) await warmUp(sidecar, language);
    const { isError, structured: run, start, text } = await sidecar.run({ language, code, cwd: here() });
    if (isError) {
      console.error(`run-code: ${text}`);
      return noRun;
    }
    if (warm && start !== 'warm') throw new Error(`the interpreter was not waiting: its start was ${start ?? 'untold'}`);
    await print(run.stdout, process.stdout);
    await print(run.stderr, process.stderr);
    report(run);
    return run.exitCode < 0 ? noRun : run.exitCode;
  } finally {
    await sidecar.close();
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error('run-code:', error instanceof Error ? error.message : error);
  return noRun;
});
