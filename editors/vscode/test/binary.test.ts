import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type Search, find } from '../src/binary';

const search = (there: string[], more: Partial<Search> = {}): Search => ({
  setting: '', path: '/a:/b', home: '/home/me', user: 'me', extension: '/ext', folders: ['/p'], isProgram: (p) => there.includes(p), ...more,
}); // prettier-ignore

test('where the program is looked for, in this order', () => {
  const order = ['/b/sidecar', '/home/me/.local/bin/sidecar', '/run/current-system/sw/bin/sidecar', '/ext/bin/sidecar'];
  for (const [i, want] of order.entries()) assert.equal(find(search(order.slice(i))).path, want);
  assert.deepEqual(find(search([])), { why: 'the program sidecar is not to be found' });
});

test('the setting stands for itself', () => {
  assert.equal(find(search(['/x/sidecar', '/b/sidecar'], { setting: '/x/sidecar' })).path, '/x/sidecar');
  assert.equal(find(search(['/home/me/s'], { setting: '~/s' })).path, '/home/me/s');
  assert.equal(find(search(['/b/sidecar'], { setting: '/x/sidecar' })).why, '/x/sidecar (sidecar.path) is no program');
  assert.equal(
    find(search(['/b/sidecar'], { setting: 'bin/sidecar' })).why,
    'sidecar.path is bin/sidecar; it must be an absolute path',
  );
});

test('what lies in a folder of the window is no program of the person', () => {
  const path = '/p/bin:.:relative:/p/../p/bin:/b';
  assert.equal(
    find(search(['/p/bin/sidecar', 'sidecar', 'relative/sidecar', '/b/sidecar'], { path })).path,
    '/b/sidecar',
  );
});

test('the manifest: commands are known, settings that name programs or widen are restricted', () => {
  const root = join(__dirname, '../..');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
    contributes: {
      commands: { command: string }[];
      keybindings: { command: string }[];
      configuration: { properties: Record<string, { scope?: string }> };
    };
  };
  const source = readFileSync(join(root, 'src/commands.ts'), 'utf8');
  const named = manifest.contributes.commands.map((c) => c.command.replace('sidecar.', ''));
  for (const name of named) assert.match(source, new RegExp(`^    '?${name.replace('.', '\\.')}'?: `, 'm'));
  for (const { command } of manifest.contributes.keybindings)
    assert.ok(named.includes(command.replace('sidecar.', '')));
  for (const [name, { scope }] of Object.entries(manifest.contributes.configuration.properties))
    if (scope) assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name), name);
});
