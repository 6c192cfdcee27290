// The agents under test: how each is started, set up and told of sidecar and of the model's stand-in, and how its
// model gets to see a result.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Json } from './model.js';

const modules = resolve(import.meta.dirname, '../../node_modules');

/** Where an agent runs. */
export interface Scene {
  /** The agent's home, empty but for the files below. */
  home: string;
  /** The folder it is started in. */
  workspace: string;
  /** The address of the stand-in. */
  model: string;
  /** The sidecar under test. */
  sidecar: string;
}

/** What is the same for all agents that are tested. */
export interface Agent {
  /** The program, below node_modules, and its arguments. */
  program: string;
  args: (s: Scene) => string[];
  /** Variables besides HOME, PATH, TERM and LANG. */
  env?: (s: Scene) => Record<string, string>;
  /** What `sidecar setup` is told to write sidecar's entry: a client and flags. It is called in the workspace. */
  setup: string[];
  /** Files to write before that: in its home, and in the workspace. */
  home?: (s: Scene) => Record<string, string>;
  project?: (s: Scene) => Record<string, string>;
  /** Where sidecar learns of the workspace from. */
  source: string;
  /** Which of the two forms of a result its model sees. */
  sees: 'structure' | 'text';
}

const prompt = 'run it';

export const agents: Record<string, Agent> = {
  claude: {
    program: `@anthropic-ai/claude-code-linux-${process.arch}/claude`,
    args: () => ['-p', prompt, '--allowedTools', 'mcp__sidecar__run_code'],
    setup: ['claude'],
    env: (s) => ({ ANTHROPIC_BASE_URL: s.model, ANTHROPIC_API_KEY: 'dummy', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', ENABLE_TOOL_SEARCH: 'false' }),
    source: 'roots',
    sees: 'structure',
  },
  codex: {
    program: '@openai/codex/bin/codex.js',
    args: () => ['exec', '--skip-git-repo-check', prompt],
    setup: ['codex'],
    home: (s) => ({
      '.codex/config.toml': `model = "m1"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.stub]
name = "stub"
base_url = "${s.model}/v1"
wire_api = "responses" # a comment
`,
    }),
    source: 'codex',
    sees: 'structure',
  },
  opencode: {
    program: 'opencode-linux-x64-baseline/bin/opencode',
    args: () => ['run', prompt],
    setup: ['opencode', '--project'],
    project: (s) => ({
      'opencode.json': JSON.stringify({
        model: 'stub/m1',
        provider: { stub: { npm: '@ai-sdk/openai-compatible', name: 'stub', options: { baseURL: `${s.model}/v1`, apiKey: 'dummy' }, models: { m1: { name: 'm1' } } } },
        permission: 'allow',
      }),
    }),
    source: 'roots',
    sees: 'text',
  },
  gemini: {
    program: '@google/gemini-cli/bundle/gemini.js',
    setup: ['gemini'],
    args: () => ['-m', 'gemini-2.5-pro', '--yolo', '-p', prompt],
    env: (s) => ({ GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: s.model, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
    home: () => ({
      '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2),
    }),
    source: 'roots',
    sees: 'text',
  },
};

/** The command line of an agent. */
export function commandOf(agent: Agent, scene: Scene): [string, ...string[]] {
  const program = join(modules, agent.program);
  if (!existsSync(program)) throw new Error(`${program} is missing: npm --prefix test/agents ci --ignore-scripts`);
  return program.endsWith('.js') ? [process.execPath, program, ...agent.args(scene)] : [program, ...agent.args(scene)];
}

/** All text in a value, each string by itself. */
export function textsIn(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
