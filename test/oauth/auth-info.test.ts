import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  accountKeyPrefix,
  principalKey,
  readActors,
  readLogin,
  TokenStatusUnknown,
} from '../../src/oauth/auth-info.ts';

const caller = { issuer: 'https://as.example.com', subject: 'ann', clientId: 'app' };

describe('the actors in the claims of a token', () => {
  it('are the present one first, then those before, and not more than ten', () => {
    expect(readActors({ sub: 'proxy', act: { sub: 'agent' } })).toEqual({ actors: ['proxy', 'agent'] });
    let act: object = { sub: 'first' };
    for (let number = 0; number < 20; number++) act = { sub: `${number}`, act };
    expect(readActors(act).actors).toHaveLength(10);
  });

  it.each([undefined, null, 'proxy', {}, { sub: 5 }])(
    'are absent if they are absent or malformed: %j',
    (act) => expect(readActors(act)).toEqual({}),
  );
});

describe('the login in the claims of a token', () => {
  it('has a time and methods', () => {
    expect(readLogin({ auth_time: 5, amr: ['pwd', 'otp'] })).toEqual({ authTime: 5, amr: ['pwd', 'otp'] });
  });

  it.each([
    {},
    { auth_time: '5', amr: 'pwd' },
    { auth_time: 1.5, amr: ['pwd', 1] },
    { auth_time: null, amr: {} },
  ])('is absent if it is absent or malformed: %j', (claims) => expect(readLogin(claims)).toEqual({}));
});

describe('the key of a principal', () => {
  it('is the same for the same issuer, subject and client, whatever else the token says', () => {
    const token = { ...caller, scopes: ['a'], audience: 'https://mcp.example.com', expiresAt: 1 };
    expect(principalKey(token)).toBe(principalKey(caller));
  });

  it.each([
    ['issuer', { ...caller, issuer: 'https://other.example.com' }],
    ['subject', { ...caller, subject: 'Ann' }],
    ['client', { ...caller, clientId: 'app2' }],
  ])('differs with the %s (T-104)', (_part, other) => {
    expect(principalKey(other)).not.toBe(principalKey(caller));
  });

  it('has parts that cannot run into their neighbours, whatever characters they hold (T-104)', () => {
    const pieces = [
      '',
      'a',
      ':',
      'a:',
      ':a',
      '\0',
      'a\0',
      '","',
      'a","a',
      '"',
      '\\',
      '\\"',
      ',',
      '\ud800',
      '\\ud800',
    ];
    const keys = pieces.flatMap((issuer) =>
      pieces.flatMap((subject) => pieces.map((clientId) => principalKey({ issuer, subject, clientId }))),
    );
    expect(new Set(keys).size).toBe(pieces.length ** 3);
  });
});

describe('the beginning of the keys of an account', () => {
  it('is that of each of its clients, and of no other account (T-104)', () => {
    for (const clientId of ['app', '', '"'])
      expect(principalKey({ ...caller, clientId }).startsWith(accountKeyPrefix(caller))).toBe(true);
    expect(principalKey({ ...caller, subject: 'ann2' }).startsWith(accountKeyPrefix(caller))).toBe(false);
  });

  it('is kept for a caller that cannot change alone', () => {
    const changing = { ...caller };
    const before = accountKeyPrefix(changing);
    changing.subject = 'bob';
    expect(accountKeyPrefix(changing)).not.toBe(before);
    const frozen = Object.freeze({ ...caller });
    expect([accountKeyPrefix(frozen), accountKeyPrefix(frozen)]).toEqual([before, before]);
  });
});

it('a token nobody can tell about is 503 with the time to wait in any Koa app, and no word of the cause', async () => {
  const app = new Koa();
  app.silent = true;
  app.use(() => {
    throw new TokenStatusUnknown('Try again later.', 7, { cause: new Error('ECONNREFUSED 10.0.0.1') });
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7']);
  expect(await response.text()).toBe('Try again later.');
});
