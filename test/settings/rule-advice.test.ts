import { describe, expect, it } from 'vitest';
import { parseSettings, type SettingsInput } from '../../src/options.ts';
import { routeSettings } from '../../src/settings/routes.ts';
import {
  findIdleScopes,
  findKeylessRules,
  findOpenRest,
  withBaselineRule,
} from '../../src/settings/rule-advice.ts';

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

const scopes = { 'notes:read': 'Read notes.', 'notes:write': 'Change notes.' };
const both = ['notes:read', 'notes:write'];

describe('everything at a route with scopes needs its baseline scopes', () => {
  it.each<[string, Parameters<typeof withBaselineRule>[0], object | undefined]>([
    ['all of them', { scopes }, { otherwise: both }],
    ['those it names', { scopes, baselineScopes: ['notes:read'] }, { otherwise: ['notes:read'] }],
    [
      'also where its rules only say what includes what',
      { scopes, scopeRules: { implies: { 'notes:write': ['notes:read'] }, lists: 'granted' } },
      { implies: { 'notes:write': ['notes:read'] }, lists: 'granted', otherwise: both },
    ],
    ['all of them where none is the baseline', { scopes, baselineScopes: [] }, { otherwise: both }],
    [
      'also where no rule stands in its tables',
      { scopes, scopeRules: { tools: {} } },
      { tools: {}, otherwise: both },
    ],
    ['unless it has rules', { scopes, scopeRules: { tools: { a: [] } } }, { tools: { a: [] } }],
    ['unless it says what is not named', { scopes, scopeRules: { otherwise: [] } }, { otherwise: [] }],
    ['or has no scopes of its own', {}, undefined],
  ])('%s', (_what, route, expected) => {
    expect(withBaselineRule(route).scopeRules).toEqual(expected);
  });

  it('in the settings, however often they are read', () => {
    const routes = { notes: { backend: { command: 'notes-server' }, scopes } } as SettingsInput['routes'];
    const once = parseSettings({ routes });
    expect(once.routes.notes?.scopeRules).toEqual({ otherwise: both });
    expect(parseSettings(once)).toEqual(once);
  });
});

it('scopes that nothing needs are those no rule names, and that include no other', () => {
  expect(findIdleScopes({})).toEqual([]);
  expect(findIdleScopes({ scopes })).toEqual(both);
  expect(findIdleScopes({ scopes, scopeRules: { tools: { add: ['notes:write'] } } })).toEqual(['notes:read']);
  for (const place of ['prompts', 'resources'])
    expect(findIdleScopes({ scopes, scopeRules: { [place]: { a: both } } })).toEqual([]);
  expect(
    findIdleScopes({
      scopes,
      scopeRules: { otherwise: ['notes:read'], implies: { 'notes:write': ['notes:read'] } },
    }),
  ).toEqual([]);
});

it('what rules leave open is what they do not name, of a route with scopes that does not say what the rest needs', () => {
  const tools = { add: ['notes:write'] };
  expect(findOpenRest({ scopes, scopeRules: { tools } })).toEqual({
    unnamed: ['prompts', 'resources'],
    named: ['tools'],
    baseline: both,
  });
  expect(findOpenRest({ scopes, baselineScopes: ['notes:read'], scopeRules: { tools } })?.baseline).toEqual([
    'notes:read',
  ]);
  for (const otherwise of [[], ['notes:read']])
    expect(findOpenRest({ scopes, scopeRules: { tools, otherwise } })).toBeUndefined();
  expect(findOpenRest({ scopeRules: { tools } })).toBeUndefined();
});
