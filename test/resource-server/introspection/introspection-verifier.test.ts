import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createIntrospectionVerifier, IntrospectionUnavailable } from '../../../src/resource-server/index.ts';
import {
  checkIntrospection,
  createIntrospectionCache,
} from '../../../src/resource-server/introspection/introspection-verifier.ts';
import { type Answer, startServer } from '../../client/support/scripted-server.ts';
import { authInfoWith } from '../../mcp/support/auth-info.ts';

const resource = 'https://files.example.com/mcp';
const issuer = 'https://as.example.com';
const client = { clientId: 'file:server', clientSecret: 'a secret+%' };
const active = () => ({
  active: true,
  sub: 'ada',
  client_id: 'c',
  aud: resource,
  exp: Math.floor(Date.now() / 1000) + 300,
  scope: 'files:read files:write',
  token_type: 'Bearer',
});

async function setUp(answer: Answer = { json: active() }, cacheSeconds = 5) {
  const server = await startServer({ 'POST /introspect': answer });
  const introspectionUrl = `${server.origin}/introspect`;
  const options = { issuer, introspectionUrl, resource, client, cacheSeconds };
  return { server, options, verifier: createIntrospectionVerifier(options) };
}

describe('a token only its issuer can read', () => {
  it('tells who calls, for how long, and with which key; the issuer is asked with proof, once in a while (A12-11)', async () => {
    const { server, verifier } = await setUp();
    const caller = {
      issuer,
      subject: 'ada',
      clientId: 'c',
      scopes: ['files:read', 'files:write'],
      audience: resource,
      expiresAt: expect.any(Number),
    };
    expect(await verifier.verify('a token')).toEqual(caller);
    expect(await verifier.verify('a token')).toEqual(caller);
    server.routes['POST /introspect'] = {
      json: { ...active(), token_type: 'DPoP', cnf: { jkt: 'thumbprint' }, auth_time: 5, amr: ['pwd'] },
    };
    const bound = { ...caller, keyThumbprint: 'thumbprint', authTime: 5, amr: ['pwd'] };
    expect(await verifier.verify('another')).toEqual(bound);
    expect(server.requests).toHaveLength(2);
    const [first] = server.requests;
    expect(first?.headers.authorization).toBe(`Basic ${btoa('file%3Aserver:a+secret%2B%25')}`);
    expect(Object.fromEntries(new URLSearchParams(first?.body))).toEqual({
      token: 'a token',
      token_type_hint: 'access_token',
    });
  });

  it.each([
    ['not active', { ...active(), active: false }],
    ['for another resource', { ...active(), aud: 'https://other.example' }],
    ['of another issuer', { ...active(), iss: 'https://evil.example' }],
    ['expired', { ...active(), exp: 1 }],
    ['a refresh token', { ...active(), token_type: undefined }],
  ])('is nothing where it is %s (A12-11, T-096, T-097, T-100)', async (_what, json) => {
    const { verifier } = await setUp({ json });
    expect(await verifier.verify('a token')).toBeUndefined();
  });

  it.each<[string, Answer]>([
    ['an error', { status: 500, text: '' }],
    ['a refusal of us', { status: 401, json: { error: 'invalid_client' } }],
    ['a redirect', { status: 307, headers: { location: '/elsewhere' }, text: '' }],
    ['no JSON', { text: '<html>' }],
    ['JSON that is no object', { json: null }],
    ['no word of whether it is active', { json: { ...active(), active: 'true' } }],
    ['more than 64 KB', { json: { ...active(), x: 'a'.repeat(70_000) } }],
  ])(
    'is judged by nobody where the issuer gives %s: that is no bad token (A12-11)',
    async (_what, answer) => {
      const { server, verifier } = await setUp(answer);
      server.routes['POST /elsewhere'] = { json: active() };
      await expect(verifier.verify('a token')).rejects.toThrow(IntrospectionUnavailable);
      await expect(verifier.verify('a token')).rejects.toMatchObject({ status: 503, expose: true });
      expect(server.asked()).not.toContain('POST /elsewhere');
      server.routes['POST /introspect'] = { json: active() };
      expect(await verifier.verify('a token')).toBeDefined();
    },
  );

  it('is judged by nobody where the issuer does not answer in time, or too many ask (A12-11)', async () => {
    const { options } = await setUp();
    const never = createIntrospectionVerifier({
      ...options,
      fetch: (_url, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
        ),
    });
    const begun = performance.now();
    const all = Array.from({ length: 101 }, (_, at) => never.verify(`token ${at}`).catch((error) => error));
    expect(await Promise.race([all.at(-1), wait(1000)])).toBeInstanceOf(IntrospectionUnavailable);
    expect(await all[0]).toBeInstanceOf(IntrospectionUnavailable);
    expect(performance.now() - begun).toBeLessThan(4000);
    await Promise.all(all);
  });

  it('is not asked about where it is too long for one', async () => {
    const { server, verifier } = await setUp();
    expect(await verifier.verify('a'.repeat(8193))).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it.each([
    [{ introspectionUrl: 'http://as.example.com/introspect' }, /https/],
    [{ introspectionUrl: 'introspect' }, /https/],
    [{ cacheSeconds: 61 }, /cacheSeconds/],
    [{ cacheSeconds: Number.NaN }, /cacheSeconds/],
    [{ client: { clientId: 'c', privateKey: { kty: 'EC' } as never } }, /alg/],
  ])('is not asked about with settings like %j', async (change, problem) => {
    const { options } = await setUp();
    expect(() => createIntrospectionVerifier({ ...options, ...change })).toThrow(problem);
  });
});

function setUpCache(keepSeconds = 5) {
  const clock = { now: 1000 };
  const cache = createIntrospectionCache({ keepSeconds, now: () => clock.now });
  const asked: string[] = [];
  const ada: AuthInfo = { ...authInfoWith(), expiresAt: 1100 };
  const find = (token: string, learned: AuthInfo | 'bad' = ada) =>
    cache.find(token, async () => {
      asked.push(token);
      return learned === 'bad' ? undefined : learned;
    });
  return { clock, cache, asked, ada, find };
}

describe('what is known of a token', () => {
  it('stands for its time, good or bad, and is asked for again after it (A12-11)', async () => {
    const { clock, asked, ada, find } = setUpCache();
    expect([await find('a'), await find('a'), await find('b', 'bad')]).toEqual([ada, ada, undefined]);
    clock.now = 1004;
    expect([await find('a', 'bad'), await find('b')]).toEqual([ada, undefined]);
    clock.now = 1005;
    expect([await find('a', 'bad'), await find('b')]).toEqual([undefined, ada]);
    expect([await find('a'), await find('b', 'bad')]).toEqual([undefined, ada]);
    expect(asked).toEqual(['a', 'b', 'a', 'b']);
  });

  it('never stands beyond the end of the token (T-097)', async () => {
    const { clock, asked, ada, find } = setUpCache(60);
    await find('a', { ...ada, expiresAt: 1002 });
    clock.now = 1002;
    expect(await find('a', 'bad')).toBeUndefined();
    expect(asked).toEqual(['a', 'a']);
  });

  it('is asked for once for all who want to know at the same time, also where nothing is kept', async () => {
    const { asked, find } = setUpCache(0);
    await Promise.all(Array.from({ length: 20 }, () => find('a')));
    await find('a');
    expect(asked).toEqual(['a', 'a']);
  });

  it('is not a failure: the next one asks again', async () => {
    const { cache, ada, find } = setUpCache();
    await expect(cache.find('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await find('a')).toBe(ada);
  });

  it('is not driven out by a flood of bad tokens (T-055)', async () => {
    const { asked, ada, find } = setUpCache();
    await find('good');
    for (let at = 0; at < 10_100; at++) await find(`bad-${at}`, 'bad');
    expect(await find('good', 'bad')).toBe(ada);
    await find('bad-10099');
    await find('bad-0', 'bad');
    expect(asked.slice(10_101)).toEqual(['bad-0']);
  });
});

const expected = {
  issuer: 'https://as.example.com',
  resource: 'https://files.example.com/mcp',
  nowSeconds: 1000,
};
const good = {
  active: true,
  iss: expected.issuer,
  sub: 'ada',
  client_id: 'c',
  aud: expected.resource,
  exp: 1300,
  token_type: 'Bearer',
};

describe('an active token', () => {
  it.each([
    ['as it should be', {}],
    ['of a server that does not name itself', { iss: undefined }],
    ['for several resources', { aud: ['https://other.example', expected.resource] }],
    ['with all that may be said', { iat: 900, nbf: 900, jti: 'j', scope: 'a b', token_use: 'access_token' }],
    ['that is bound to a key', { token_type: 'dpop', cnf: { jkt: 't' } }],
  ])('passes %s (A12-11)', (_what, change) => {
    expect(checkIntrospection({ ...good, ...change }, expected)).toBeUndefined();
  });

  it.each([
    ['other_issuer', { iss: 'https://as.example.com/' }],
    ['other_issuer', { iss: null }],
    ['no_access_token', { token_type: undefined }],
    ['no_access_token', { token_type: 'refresh_token' }],
    ['no_access_token', { token_use: 'refresh_token' }],
    ['binding_without_key', { token_type: 'DPoP' }],
    ['unknown_binding', { cnf: { 'x5t#S256': 'x' } }],
    ['other_audience', { aud: 'https://other.example' }],
    ['other_audience', { aud: undefined }],
    ['expired', { exp: 940 }],
    ['expiry_is_no_time', { exp: undefined }],
    ['issued_in_the_future', { iat: 1061 }],
    ['not_yet_valid', { nbf: 1061 }],
    ['no_subject', { sub: undefined }],
    ['no_client', { client_id: undefined }],
    ['scope_is_no_text', { scope: ['a'] }],
  ])('fails with %s for %j (A12-11, T-096, T-097, T-100)', (fault, change) => {
    expect(checkIntrospection({ ...good, ...change }, expected)).toBe(fault);
  });
});
