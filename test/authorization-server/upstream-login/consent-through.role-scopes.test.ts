import { expect, it } from 'vitest';
import {
  checkRoles,
  scopesForRoles,
} from '../../../src/authorization-server/upstream-login/consent-through.ts';

const rules = [
  { claim: 'groups', value: 'staff', scopes: ['notes:read'] },
  { claim: 'groups', value: 'engineering', scopes: ['notes:read', 'notes:write'] },
  { claim: 'role', value: 'admin', scopes: ['admin'] },
];
const all = ['notes:read', 'notes:write', 'admin'];

it('everybody may be given every scope where the operator wrote no rules', () => {
  expect(scopesForRoles(undefined, {}, all)).toEqual(all);
});

it('each rule opens its scopes, and nothing else is given', () => {
  expect(scopesForRoles(rules, { groups: ['staff'] }, all)).toEqual(['notes:read']);
  expect(scopesForRoles(rules, { groups: ['engineering'] }, all)).toEqual(['notes:read', 'notes:write']);
  expect(scopesForRoles(rules, { groups: ['staff'], role: 'admin' }, all)).toEqual(['notes:read', 'admin']);
  expect(scopesForRoles(rules, { groups: 'guests' }, all)).toEqual([]);
  expect(scopesForRoles([], { groups: ['staff'] }, all)).toEqual([]);
});

it('nobody is given what they did not allow', () => {
  expect(scopesForRoles(rules, { role: 'admin', groups: ['engineering'] }, ['notes:read'])).toEqual([
    'notes:read',
  ]);
});

it('who may be given none of the scopes that are wanted does not fit; nobody is refused for wanting none', () => {
  expect(checkRoles(rules, { groups: ['staff'] }, ['notes:write'])).toBe('no_scope_for_roles');
  expect(checkRoles(rules, { groups: ['staff'] }, all)).toBeUndefined();
  expect(checkRoles(rules, {}, [])).toBeUndefined();
  expect(checkRoles(undefined, {}, all)).toBeUndefined();
});
