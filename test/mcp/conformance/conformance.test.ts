// The official conformance suite against `sidecar mcp`, through the bridge: every scenario that it has for servers
// either succeeds or stands in the table of those that do not apply.
import assert from 'node:assert/strict';
import test from 'node:test';
import { binary, project, state } from '../fixture.js';
import { startBridge } from './bridge.js';
import { run, scenarios, type Suite, verdict } from './suite.js';
import { exceptions } from './table.js';

const suites: Suite[] = [
  { package: 'conformance-2025', revision: '2025-06-18' },
  { package: 'conformance-2025', revision: '2025-11-25' },
  { package: 'conformance-2026', revision: '2025-11-25' },
  { package: 'conformance-2026', revision: '2026-07-28' },
];

for (const suite of suites) {
  await test(`${suite.package}, revision ${suite.revision}`, async (t) => {
    const bridge = await startBridge({ binary, cwd: project(t), env: state(t) });
    t.after(() => bridge.close());
    const names = scenarios(suite);
    const results = await run(suite, bridge.url);
    // Extensions are listed in every revision, and not run.
    assert.ok(names.length >= 25, `the suite lists only ${names.length} scenarios`);
    for (const name of names) {
      await t.test(name, () => { assert.deepEqual(verdict(name, results.get(name) ?? []), []); });
    }
    const listed = new Set(names);
    assert.deepEqual([...results.keys()].filter((name) => !listed.has(name)), [], 'scenarios that the list lacks');
  });
}

await test('the table of exceptions names only scenarios that there are', () => {
  const known = new Set(suites.flatMap(scenarios));
  assert.deepEqual(Object.keys(exceptions).filter((name) => !known.has(name)), []);
});
