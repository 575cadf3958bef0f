import { describe, expect, it } from 'vitest';
import { parseSettings, type SettingsInput } from '../../src/options.ts';
import { findIdleScopes, findOpenRest, withBaselineRule } from '../../src/settings/baseline-rule.ts';

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
