import { describe, expect, it } from 'vitest';
import type { AuthInfo } from '../../src/oauth/auth-info.ts';
import {
  callerClaims,
  callerField,
  callerFields,
  callerText,
  headerOfAssertion,
} from '../../src/oauth/caller-fields.ts';

const plain: AuthInfo = {
  issuer: 'https://as.example.com',
  subject: 'acct_1',
  clientId: 'client-1',
  scopes: ['a', 'b'],
  audience: 'https://mcp.example.com/mcp',
  expiresAt: 1_800_000_000,
};
const full: AuthInfo = {
  ...plain,
  email: 'ada@example.com',
  emailVerified: false,
  displayName: 'Ada',
  upstream: {
    name: 'work',
    issuer: 'https://idp.example',
    subject: '7',
    groups: ['a,admin', 'Größe'],
    roles: [],
    claims: { department: 'R&D' },
  },
  client: { name: 'Notes', kind: 'registered' },
  grantId: 'g',
  authTime: 5,
  amr: ['pwd'],
};

describe('the fields of a caller', () => {
  it('are absent if the account has no value for them', () => {
    const known = callerFields.filter((field) => callerField(plain, field) !== undefined);
    expect(known).toEqual(['sub', 'client_id', 'scope']);
    expect(callerClaims(plain)).toEqual({ sub: 'acct_1', client_id: 'client-1', scope: 'a b' });
  });

  it('have a value each, as claims of an assertion', () => {
    expect(callerFields.every((field) => callerField(full, field) !== undefined)).toBe(true);
    expect(callerClaims(full)).toEqual({
      sub: 'acct_1',
      email: 'ada@example.com',
      email_verified: false,
      name: 'Ada',
      groups: ['a,admin', 'Größe'],
      roles: [],
      client_id: 'client-1',
      client_name: 'Notes',
      scope: 'a b',
      grant_id: 'g',
      auth_time: 5,
      amr: ['pwd'],
      upstream: { name: 'work', iss: 'https://idp.example', sub: '7', claims: { department: 'R&D' } },
    });
  });

  it('that do not fit into a length are left out whole, and named', () => {
    const groups = Array.from({ length: 200 }, (_, at) => `a group with a long name ${at}`);
    const long = { ...full, upstream: { ...full.upstream, name: 'work', issuer: 'i', subject: '7', groups } };
    const claims = callerClaims(long, 1_000);
    expect(claims).not.toHaveProperty('groups');
    expect(claims).toMatchObject({ sub: 'acct_1', roles: [], scope: 'a b', omitted: ['groups'] });
    expect(callerClaims(long)).toMatchObject({ groups });
    const selected = { ...full.upstream, name: 'work', issuer: 'i', subject: '7', claims: { long: groups } };
    const { upstream, omitted } = callerClaims({ ...full, upstream: selected }, 1_000);
    expect([upstream, omitted]).toEqual([{ name: 'work', iss: 'i', sub: '7' }, ['upstream.claims']]);
  });

  it('of the client get the room that those of the account and its login leave', () => {
    const upstream = { name: 'work', issuer: 'i', subject: '7', groups: ['a group'.repeat(100)] };
    const client = { name: 'n'.repeat(500), kind: 'registered' } as const;
    const long = { ...full, upstream, client };
    expect(callerClaims(long, 1_000)).toMatchObject({
      ...{ sub: 'acct_1', groups: upstream.groups, grant_id: 'g', client_id: 'client-1' },
      omitted: ['client_name'],
    });
    const longId = callerClaims({ ...long, clientId: `https://app.example/${'i'.repeat(400)}` }, 1_000);
    expect(longId).toMatchObject({ groups: upstream.groups, omitted: ['client_id', 'client_name'] });
    expect(callerClaims(long, 500)).toMatchObject({
      client_id: 'client-1',
      omitted: ['groups', 'client_name'],
    });
  });

  it('are text in which a comma adds no group, and lists are ASCII', () => {
    expect(callerText(full, 'groups')).toBe('["a,admin","Gr\\u00f6\\u00dfe"]');
    expect(JSON.parse(callerText(full, 'groups') ?? '')).toEqual(full.upstream?.groups);
    expect([callerText(full, 'email_verified'), callerText(full, 'auth_time')]).toEqual(['false', '5']);
    expect([callerText(plain, 'groups'), callerText({ ...plain, scopes: [] }, 'scope')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

it('The header of an assertion is the default, or the one of the operator, in lower case', () => {
  expect([true, { header: 'X-Caller' }, false, undefined].map(headerOfAssertion)).toEqual([
    'x-gatehouse-assertion',
    'x-caller',
    undefined,
    undefined,
  ]);
});
