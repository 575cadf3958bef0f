import { expect, it } from 'vitest';
import {
  findScopeProblems,
  scopeListSetting,
  scopeRulesSettings,
  scopesSetting,
} from '../../src/settings/scopes.ts';

const scopes = { 'notes:read': 'Read notes.' };

it.each([
  [
    { scopes, baselineScopes: ['notes:reed'] },
    'routes.a.baselineScopes: routes.a.scopes has no "notes:reed"; did you mean notes:read?',
  ],
  [
    { scopes, scopeRules: { tools: { add: ['admin'] } } },
    'routes.a.scopeRules.tools.add: routes.a.scopes has no "admin"',
  ],
  [
    { scopeRules: { otherwise: ['notes:read'] } },
    'routes.a.scopeRules.otherwise: routes.a.scopes has no "notes:read"',
  ],
  [{ scopes: { a: '' } }, 'routes.a.scopes.a: needs the sentence the consent page shows'],
  ...['openid', 'offline_access'].map((scope): [Record<string, unknown>, string] => [
    { scopes: { ...scopes, [scope]: 'x' } },
    `routes.a.scopes.${scope}: is a scope of the authorization server itself; give it another name`,
  ]),
])('what is wrong with scopes is named where it is: %j', (fields, problem) => {
  expect(findScopeProblems('routes.a', fields)).toEqual([problem]);
});

it('scopes that fit together have no problem', () => {
  expect(
    findScopeProblems('a', {
      scopes,
      baselineScopes: ['notes:read'],
      scopeRules: { otherwise: ['notes:read'] },
    }),
  ).toEqual([]);
  expect(findScopeProblems('a', { scopeRules: { otherwise: ['mcp'] } })).toEqual([]);
});

it('scopes have names that a token can hold, and sentences (RFC 6749 section 3.3)', () => {
  expect(scopesSetting.safeParse({ 'notes:read': 'Read your notes.' }).success).toBe(true);
  for (const scopes of [{}, { 'a b': 'A.' }, { a: '' }])
    expect(scopesSetting.safeParse(scopes).success).toBe(false);
  expect(scopeListSetting.safeParse(['a"']).success).toBe(false);
});

it('rules about scopes have names that are known', () => {
  const rules = { tools: { add: ['notes:write'] }, otherwise: ['notes:read'], lists: 'granted' };
  expect(scopeRulesSettings.parse(rules)).toEqual(rules);
  for (const wrong of [{ tool: {} }, { tools: { add: 'notes:write' } }, { lists: 'some' }])
    expect(scopeRulesSettings.safeParse(wrong).success).toBe(false);
});
