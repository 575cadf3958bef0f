import { describe, expect, it } from 'vitest';
import {
  checkCallerVariables,
  createCallerHeaders,
  createCallerVariables,
} from '../../../src/gateway/credentials/caller-values.ts';
import { callerOf } from '../backends/stdio/support/talk.ts';

const ada = { ...callerOf('ada'), displayName: 'Ada', email: 'ada@example.com' };

describe('the headers about a caller', () => {
  const add = createCallerHeaders(
    { headers: { 'X-Name': 'name', 'X-Groups': 'groups' }, assertion: { header: 'X-Caller' } },
    ({ subject }) => `about ${subject}`,
  );
  const headersOf = (displayName: string) => add({}, { ...ada, displayName }).freshHeaders?.();

  it('contain the fields of the setting and the assertion; a field without a value is absent', () => {
    expect(headersOf('Ada')).toEqual({ 'x-name': 'Ada', 'x-caller': 'about ada' });
  });

  it.each(['Größe', 'a\r\nX-Roles: admin', 'nul\0', ' padded ', '=?base64?QQ==?='])(
    'encode a value that a header cannot have: %j',
    (name) => {
      const value = headersOf(name)?.['x-name'] ?? '';
      expect(value).toMatch(/^=\?base64\?[A-Za-z0-9+/=]+\?=$/);
      expect(Buffer.from(value.slice('=?base64?'.length, -2), 'base64').toString('utf8')).toBe(name);
    },
  );

  it('are left out whole if they are too long together, the longest first, and a header names them', () => {
    const groups = Array.from({ length: 200 }, (_, at) => `a group with a long name ${at}`);
    const upstream = { name: 'work', issuer: 'i', subject: 's', groups };
    expect(add({}, { ...ada, upstream }).freshHeaders?.()).toEqual({
      'x-name': 'Ada',
      'x-gatehouse-omitted': 'x-groups',
      'x-caller': 'about ada',
    });
    const few = { ...upstream, groups: groups.slice(0, 20) };
    const headers = add({}, { ...ada, upstream: few }).freshHeaders?.() ?? {};
    expect(JSON.parse(headers['x-groups'] ?? '')).toEqual(few.groups);
    expect(headers).not.toHaveProperty('x-gatehouse-omitted');
  });

  it('about the account get the room before a long name that a client chose', () => {
    const addBoth = createCallerHeaders(
      { headers: { 'X-App': 'client_name', 'X-Groups': 'groups' } },
      () => 'no assertion',
    );
    const upstream = { name: 'work', issuer: 'i', subject: 's', groups: ['a group'.repeat(300)] };
    const client = { name: 'n'.repeat(2_050), kind: 'registered' } as const;
    expect(addBoth({}, { ...ada, upstream, client }).freshHeaders?.()).toEqual({
      'x-groups': JSON.stringify(upstream.groups),
      'x-gatehouse-omitted': 'x-app',
    });
  });

  it('stand beside the credentials of the caller', () => {
    expect(add({ headers: { authorization: 'key' } }, ada).headers).toEqual({ authorization: 'key' });
  });
});

describe('the variables about a caller', () => {
  const add = createCallerVariables({ env: { WHO: 'email', NAME: 'name', CALLER_GROUPS: 'groups' } });

  it('contain the fields of the setting beside the credentials; a field without a value is absent', () => {
    expect(add({ env: { KEY: 'k' } }, ada).env).toEqual({ KEY: 'k', WHO: 'ada@example.com', NAME: 'Ada' });
  });

  it('leave out a value that a variable cannot have', () => {
    expect(add({}, { ...ada, displayName: 'a\0b' }).env).toEqual({ WHO: 'ada@example.com' });
  });

  it.each([
    ['shared', 0, 'email', 'a process that everybody shares'],
    ['session', 1, 'email', 'a spare process is started before its caller is known'],
    ['account', 0, 'client_name', 'client_name may differ between them'],
    ['account', 0, 'groups', 'groups may differ between them'],
    ['account', 0, 'email_verified', 'email_verified may differ between them'],
  ] as const)(
    'are refused for processes of others: %s, %i spare, %s (T-158)',
    (process, spare, field, why) => {
      expect(() => checkCallerVariables({ env: { WHO: field } }, { process, spare })).toThrow(why);
    },
  );

  it.each([
    ['account', { env: { WHO: 'email', ID: 'sub' } }],
    ['session', { env: { WHO: 'client_id' } }],
    ['shared', { assertion: true }],
  ] as const)(
    'are accepted for processes of the caller, and an assertion for all: %s',
    (process, setting) => {
      expect(() => checkCallerVariables(setting, { process, spare: 0 })).not.toThrow();
    },
  );
});
