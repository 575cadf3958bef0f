import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createIntrospectionVerifier, IntrospectionUnavailable } from '../../../src/resource-server/index.ts';
import { type Answer, startServer } from '../../client/support/scripted-server.ts';

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
      json: { ...active(), token_type: 'DPoP', cnf: { jkt: 'thumbprint' } },
    };
    expect(await verifier.verify('another')).toEqual({ ...caller, keyThumbprint: 'thumbprint' });
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
