import { expect, it } from 'vitest';
import { findScopeProblems } from '../../src/settings/scope-problems.ts';

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
