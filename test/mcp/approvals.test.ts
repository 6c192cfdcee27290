// What runs wait for is asked by elicitation: both official clients, both ways of the protocol, through the workspace's
// sidecar and in one process. The destination is a server of the test under a name that only the settings know.
import { Client } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type TestContext } from 'node:test';
import { afterwards, binary, connect, eventually, folder, processesWith, project, state, uniqueWord } from './fixture.js';
import { type Failure, type Person, type Question, type Reply, type Run } from './sidecar.js';

/** What a call gives. */
interface Outcome {
  isError: boolean;
  text: string;
  structured: Run & { error?: Failure };
}

/** A client that asks a person, or shows no forms. */
interface Agent {
  run: (args: Record<string, unknown>, signal?: AbortSignal) => Promise<Outcome>;
}

/** How a client is made. */
interface Place {
  root: string;
  args: string[];
  env: Record<string, string>;
}

type Connect = (t: TestContext, place: Place, person?: Person) => Promise<Agent>;

/** The SDK of the revisions in which the server asks in requests of its own. */
const older: Connect = async (t, place, person) => {
  const sidecar = await connect(t, { roots: [place.root], args: place.args, env: place.env, ...(person && { person }) });
  return { run: (args, signal) => sidecar.run(args, undefined, signal) };
};

/** The second SDK, in a revision. */
const newer = (mode: 'legacy' | { pin: string }): Connect => async (t, place, person) => {
  const transport = new StdioClientTransport({ command: binary, args: ['mcp', ...place.args], stderr: 'inherit', cwd: '/', env: { ...getDefaultEnvironment(), ...place.env } });
  const client = new Client({ name: 'modern-test', version: '1.0.0' }, { capabilities: { roots: {}, ...(person && { elicitation: { form: {} } }) }, versionNegotiation: { mode } });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(place.root).href }] }));
  if (person) client.setRequestHandler('elicitation/create', async (request, extra) => ({ ...await person(request.params as unknown as Question, extra.mcpReq.signal) }));
  await client.connect(transport);
  afterwards(t, () => client.close());
  return {
    run: async (args, signal) => {
      const result = await client.callTool({ name: 'run_code', arguments: args }, signal && { signal });
      const text = result.content.map((c) => c.type === 'text' ? c.text : '').join('\n');
      return { isError: result.isError === true, text, structured: result.structuredContent as Outcome['structured'] };
    },
  };
};

const host = 'service.test';

/** A project, and settings in which a name stands for a server of this test that says hello. */
async function place(t: TestContext, args: string[] = []): Promise<Place & { config: string }> {
  const server = createServer((_, answer) => { answer.end('hello'); });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterwards(t, () => { server.close(); });
  const config = join(folder(t), 'config.yaml');
  writeFileSync(config, `# mine\nnetwork:\n  hosts: {${host}: "127.0.0.1:${(server.address() as AddressInfo).port}"}\n`);
  return { root: project(t), args, env: { ...state(t), XDG_CONFIG_HOME: folder(t), SIDECAR_CONFIG: config }, config };
}

/** A person who answers in turn, and remembers the questions. */
function person(...replies: Reply[]): { asked: Question[]; answer: Person } {
  const asked: Question[] = [];
  return {
    asked,
    answer: (question) => {
      asked.push(question);
      return replies[asked.length - 1] ?? { action: 'decline' };
    },
  };
}

const says = (answer: string): Reply => ({ action: 'accept', content: { answer } });

/** Fetches the name, and says so when it cannot. */
const fetchIt = { language: 'python', code: `import urllib.request
try: print(urllib.request.urlopen("http://${host}/", timeout=60).read().decode())
except OSError: print("refused")
` };

const ways: Record<string, { connect: Connect; args?: string[] }> = {
  'sdk 1, 2025-11-25': { connect: older },
  'sdk 2, 2025-11-25': { connect: newer('legacy') },
  'sdk 2, 2026-07-28': { connect: newer({ pin: '2026-07-28' }) },
  'sdk 1, in one process': { connect: older, args: ['--in-process'] },
  'sdk 2, 2026-07-28, in one process': { connect: newer({ pin: '2026-07-28' }), args: ['--in-process'] },
};

for (const [name, way] of Object.entries(ways)) {
  for (const [answer, reply, reached] of [
    ['once', says('once'), true],
    ['no', says('no'), false],
    ['declined', { action: 'decline' }, false],
    ['dismissed', { action: 'cancel' }, false],
    ['declined with the wrong content', { action: 'decline', content: { answer: 'always' } }, false],
  ] as [string, Reply, boolean][]) {
    test(`${name}: a name, ${answer}`, async (t) => {
      const at = await place(t, way.args);
      const before = readFileSync(at.config, 'utf8');
      const who = person(reply);
      const agent = await way.connect(t, at, who.answer);
      const { structured, text } = await agent.run(fetchIt);
      assert.equal(structured.stdout.text, reached ? 'hello\n' : 'refused\n', text);
      assert.deepEqual(structured.denied?.map((d) => d.host), reached ? undefined : [host]);
      assert.equal(text.includes('network.allowed_domains'), !reached, text);
      assert.equal(who.asked.length, 1);
      const [question] = who.asked;
      for (const part of [`reach ${host}:80`, structured.id, at.root, 'Code (python): "import', at.config, `network.approved: [${host}]`]) assert.ok(question?.message.includes(part), question?.message);
      assert.equal(readFileSync(at.config, 'utf8'), before);
    });
  }

  test(`${name}: a name, always: it is in the settings, and not asked again`, async (t) => {
    const at = await place(t, way.args);
    const who = person(says('always'));
    const agent = await way.connect(t, at, who.answer);
    assert.equal((await agent.run(fetchIt)).structured.stdout.text, 'hello\n');
    const settings = readFileSync(at.config, 'utf8');
    assert.match(settings, /^# mine$/m);
    assert.match(settings, new RegExp(`${host}[^:]*$`, 'm'));
    const next = await way.connect(t, at, who.answer);
    assert.equal((await next.run(fetchIt)).structured.stdout.text, 'hello\n');
    assert.equal(who.asked.length, 1);
  });

  test(`${name}: a client without forms is denied plainly`, async (t) => {
    const at = await place(t, way.args);
    const agent = await way.connect(t, at);
    const { structured, isError } = await agent.run(fetchIt);
    assert.deepEqual([isError, structured.stdout.text], [false, 'refused\n']);
    const secret = join(folder(t), 'notes.txt');
    writeFileSync(secret, 'of the host\n');
    const denied = await agent.run({ language: 'bash', code: 'true', files: [secret] });
    assert.deepEqual([denied.isError, denied.structured.error?.kind], [true, 'denied_by_policy'], denied.text);
    assert.match(denied.text, /files\.ro_files/);
  });

  test(`${name}: files of the host, one read, one changed, one denied, and what lies in the project unasked`, async (t) => {
    const at = await place(t, way.args);
    const outside = folder(t);
    const [read, change] = [join(outside, 'read.txt'), join(outside, 'change.txt')];
    for (const path of [read, change]) writeFileSync(path, 'of the host\n');
    const who = person(says('once'), says('once'), says('always'), { action: 'decline' });
    const agent = await way.connect(t, at, who.answer);
    const run = await agent.run({
      language: 'bash', files: [read, 'data.txt', join(at.root, 'data.txt')], writable_files: [change],
      code: `cat data.txt '${read}'; echo more >> '${change}'; echo more >> '${read}' || echo read-only`,
    });
    assert.equal(run.structured.stdout.text, 'six times seven\nof the host\nread-only\n', run.text);
    assert.equal(readFileSync(change, 'utf8'), 'of the host\nmore\n');
    assert.deepEqual(who.asked.map((q) => q.message.split('\n')[0]), [`May this run change "${change}"?`, `May this run read "${read}"?`]);
    assert.ok(who.asked.every((q) => !JSON.stringify(q.requestedSchema).includes('always')));
    for (const answer of ['always, which was not offered', 'no']) {
      const denied = await agent.run({ language: 'bash', code: `cat '${read}'`, files: [read] });
      assert.deepEqual([denied.isError, denied.structured.error?.kind], [true, 'denied_by_policy'], `${answer}: ${denied.text}`);
    }
  });

  test(`${name}: several names in one run are asked one after the other`, async (t) => {
    const at = await place(t, way.args);
    writeFileSync(at.config, readFileSync(at.config, 'utf8').replace(/\{.*?: (.*)\}/, `{a.test: $1, b.test: $1, c.test: $1}`));
    let open = 0, most = 0;
    const agent = await way.connect(t, at, async (question) => {
      most = Math.max(most, ++open);
      await new Promise((done) => setImmediate(done));
      open--;
      return says(question.message.includes('b.test') ? 'no' : 'once');
    });
    const code = `import concurrent.futures, urllib.error, urllib.request
def fetch(name):
    try: return name, urllib.request.urlopen(f"http://{name}.test/", timeout=60).status
    except urllib.error.HTTPError as e: return name, e.code
with concurrent.futures.ThreadPoolExecutor(3) as pool: print(*pool.map(fetch, "abc"))
`;
    const { structured, text } = await agent.run({ language: 'python', code });
    assert.equal(structured.stdout.text, "('a', 200) ('b', 403) ('c', 200)\n", text);
    assert.equal(most, 1);
  });

  test(`${name}: a call that is cancelled while the person thinks`, async (t) => {
    const at = await place(t, way.args);
    const word = uniqueWord();
    let thinking = false, withdrawn = false;
    const agent = await way.connect(t, at, (_, signal) => new Promise<Reply>((done) => {
      thinking = true;
      signal.addEventListener('abort', () => {
        withdrawn = true;
        done({ action: 'cancel' });
      });
    }));
    const abort = new AbortController();
    const call = agent.run({ ...fetchIt, env: { WORD: word } }, abort.signal);
    await eventually('the question', () => thinking);
    abort.abort('esc');
    await assert.rejects(call);
    await eventually('the question to be withdrawn', () => withdrawn);
    // In the newest revision no call is open, and the run waits on; there the end of the connection ends it.
    if (!name.includes('2026')) await eventually('all processes to be gone', () => processesWith(word).length === 0);
    assert.equal((await agent.run({ language: 'bash', code: 'echo on' })).structured.stdout.text, 'on\n');
  });
}

test("a question about one agent's run does not come up at another", async (t) => {
  const at = await place(t);
  const [mine, other] = [person(says('once')), person(says('once'))];
  const agent = await older(t, at, mine.answer);
  const stranger = await newer('legacy')(t, at, other.answer);
  assert.equal((await stranger.run({ language: 'bash', code: 'echo here' })).structured.stdout.text, 'here\n');
  assert.equal((await agent.run(fetchIt)).structured.stdout.text, 'hello\n');
  const mute = await older(t, at);
  assert.equal((await mute.run(fetchIt)).structured.stdout.text, 'refused\n');
  assert.deepEqual([mine.asked.length, other.asked.length], [1, 0]);
});

test('2026-07-28: the run ends with its connection, also while a question is open', async (t) => {
  const at = await place(t);
  const word = uniqueWord();
  const transport = new StdioClientTransport({ command: binary, args: ['mcp'], stderr: 'inherit', cwd: '/', env: { ...getDefaultEnvironment(), ...at.env } });
  const client = new Client({ name: 'modern-test', version: '1.0.0' }, { capabilities: { roots: {}, elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(at.root).href }] }));
  let asked = false;
  client.setRequestHandler('elicitation/create', () => new Promise<never>(() => { asked = true; }));
  await client.connect(transport);
  client.callTool({ name: 'run_code', arguments: { ...fetchIt, env: { WORD: word } } }).catch(() => { /* it ends with the connection */ });
  await eventually('the question', () => asked);
  assert.notEqual(processesWith(word).length, 0);
  await client.close();
  await eventually('all processes to be gone', () => processesWith(word).length === 0);
});
