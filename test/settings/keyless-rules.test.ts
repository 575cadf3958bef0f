import { expect, it } from 'vitest';
import { findKeylessRules } from '../../src/settings/keyless-rules.ts';
import { routeSettings } from '../../src/settings/routes.ts';

const command = 'some-server';
const several = { files: { command }, 'my-notes': { command } };

/** What is found for a route with these settings. */
function found(settings: object) {
  const { route } = routeSettings.parse({ route: { backends: several, ...settings } });
  return route && findKeylessRules(route);
}

it.each<[string, object, string[]]>([
  ['tools', { read: [] }, ['files_read', 'my-notes_read']],
  ['prompts', { read: [] }, ['files_read', 'my-notes_read']],
  ['tools', { 'Files.read': [] }, ['files_read']],
  ['tools', { file_read: [] }, ['files_read', 'files_file_read']],
  ['tools', { files_: [], files_read: [], 'my-notes_a_b': [] }, []],
  ['resources', { 'file:///a': [] }, ['files+file:///a', 'my-notes+file:///a']],
  ['resources', { 'files_file:///a': [] }, ['files+file:///a']],
  ['resources', { 'file+notes://a': [] }, ['files+notes://a', 'files+file+notes://a']],
  ['resources', { 'files://a': [] }, ['files+files://a', 'my-notes+files://a']],
  ['resources', { 'ui://app/': [] }, ['ui://files+app/', 'ui://my-notes+app/']],
  ['resources', { 'FILES+FILE:/a': [], 'files+': [], file: [], 'ui://': [], 'ui://files+app/': [] }, []],
])('a rule of scopes that nothing can fit is found with what was meant: %s %j', (table, rules, meant) => {
  const [first, ...more] = found({ scopeRules: { [table]: rules } }) ?? [];
  expect(first?.meant ?? []).toEqual(meant);
  expect(more).toEqual([]);
  if (first) expect(first.place).toBe(`scopeRules.${table}.${Object.keys(rules)[0]}`);
});

it('a pattern of the policy that nothing can fit is found, and none that a name with a key may fit', () => {
  const policy = {
    tools: { allow: ['*', 'fi*', 'files_*', 'read_*'], deny: ['*_write', 'write', 'files'] },
    prompts: { deny: ['files_*', 'sum*'] },
    resources: { deny: ['files+file:///etc/*', 'file:///etc/*', '*://secret/*', 'ui*'] },
    limits: [{ perMinute: 1 }, { tools: 'search', perMinute: 1 }],
  };
  expect(found({ policy })?.map(({ place, meant }) => `${place}: ${meant[0]}`)).toEqual([
    'policy.tools.allow.3 (read_*): files_read_*',
    'policy.tools.deny.1 (write): files_write',
    'policy.tools.deny.2 (files): files_files',
    'policy.prompts.deny.1 (sum*): files_sum*',
    'policy.resources.deny.1 (file:///etc/*): files+file:///etc/*',
    'policy.limits.1.tools (search): files_search',
  ]);
});

it('nothing is found where one server has the names it gives itself', () => {
  const one = { backends: undefined, backend: { command }, policy: { tools: { deny: ['write'] } } };
  expect(found({ ...one, scopeRules: { tools: { read: [] } } })).toEqual([]);
});
