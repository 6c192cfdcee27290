// Runs the tests where there is no network but loopback: agents look for updates, send statistics and fetch
// plugins, and none of that is to count. Names of agents choose among them.
//
//	SIDECAR_BIN=bin/sidecar npm --prefix test/agents test [claude] [codex] [opencode] [gemini]
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const namespaces = process.getuid?.() === 0 ? ['--net'] : ['--user', '--map-root-user', '--net'];
const tests = join(import.meta.dirname, 'agents.test.js');
const { status, error } = spawnSync('unshare', [
  ...namespaces, '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath, '--test', '--test-timeout=180000', tests,
], { stdio: 'inherit', env: { ...process.env, AGENTS: process.argv.slice(2).join(' ') } });
if (error) console.error(error.message);
process.exitCode = status ?? 1;
