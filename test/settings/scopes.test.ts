import { expect, it } from 'vitest';
import { scopeListSetting, scopeRulesSettings, scopesSetting } from '../../src/settings/scopes.ts';

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
