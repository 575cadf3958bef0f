import { describe, expect, it } from 'vitest';
import {
  type AccessTokenRecord,
  checkTokenRecord,
  createLocalVerifier,
} from '../../src/resource-server/token-verifier.ts';

const now = 1_800_000_000;

const good: AccessTokenRecord = {
  clientId: 'client-1',
  subject: 'ann',
  scopes: ['notes:read'],
  audience: 'https://mcp.example.com/mcp',
  issuedAt: now - 10,
  expiresAt: now + 3590,
  grantId: 'grant-1',
};

function verifierOf(tokens: Record<string, AccessTokenRecord>) {
  const known = new Map(Object.entries(tokens));
  return createLocalVerifier({
    source: { find: async (token) => known.get(token) },
    issuer: 'https://mcp.example.com',
    now: () => now,
  });
}

describe('a token record', () => {
  it.each<[string, Partial<AccessTokenRecord>, string | undefined]>([
    ['is good within its life', {}, undefined],
    ['is expired in the second of its expiry', { expiresAt: now }, 'expired'],
    ['is expired after it', { expiresAt: now - 1 }, 'expired'],
    ['needs an expiry', { expiresAt: undefined as unknown as number }, 'expiry_is_no_time'],
    [
      'needs an expiry that is a number',
      { expiresAt: `${now + 60}` as unknown as number },
      'expiry_is_no_time',
    ],
    ['does not live for ever', { expiresAt: Number.POSITIVE_INFINITY }, 'expiry_is_no_time'],
    ['does not live for 1e308 seconds', { expiresAt: 1e308 }, 'expiry_is_no_time'],
    ['does not live for two years', { expiresAt: now + 2 * 366 * 86_400 }, 'expiry_too_far'],
    ['has no negative expiry', { expiresAt: -1 }, 'expiry_is_no_time'],
    ['may come from a clock 60 s ahead', { issuedAt: now + 60 }, undefined],
    ['may not come from further in the future', { issuedAt: now + 61 }, 'issued_in_the_future'],
    ['needs a time of issue', { issuedAt: Number.NaN }, 'issue_is_no_time'],
  ])('%s (T-097)', (_rule, chosen, fault) => {
    expect(checkTokenRecord({ ...good, ...chosen }, now)).toBe(fault);
  });
});

describe('the local verifier', () => {
  it('gives who is calling, with the issuer and without the token (T-104, T-105)', async () => {
    const authInfo = await verifierOf({ 'token-1': good }).verify('token-1');
    expect(authInfo).toEqual({
      issuer: 'https://mcp.example.com',
      subject: 'ann',
      clientId: 'client-1',
      scopes: ['notes:read'],
      audience: 'https://mcp.example.com/mcp',
      expiresAt: now + 3590,
      grantId: 'grant-1',
    });
    expect(JSON.stringify(authInfo)).not.toContain('token-1');
  });

  it('gives one and the same caller for a token, whom nobody behind it can change', async () => {
    const verifier = verifierOf({ 'token-1': good });
    const authInfo = await verifier.verify('token-1');
    expect(await verifier.verify('token-1')).toBe(authInfo);
    expect(() => Object.assign(authInfo ?? {}, { subject: 'eve' })).toThrow(TypeError);
    expect(Object.isFrozen(authInfo?.scopes)).toBe(true);
  });

  it('gives nobody for a token that is not good now (T-097)', async () => {
    expect(await verifierOf({ 'token-1': { ...good, expiresAt: now } }).verify('token-1')).toBeUndefined();
  });

  it('gives nobody for a token whose grant was revoked: the source no longer finds it (T-103)', async () => {
    expect(await verifierOf({}).verify('token-1')).toBeUndefined();
  });

  it.each([
    ['a JWT without a signature', jwt({ alg: 'none', typ: 'at+jwt' })],
    ['a JWT signed with a public key as secret', jwt({ alg: 'HS256', typ: 'at+jwt' })],
    ['a JWT whose kid is a path', jwt({ alg: 'ES256', typ: 'at+jwt', kid: '../../dev/null' })],
    ['a JWT that brings its own keys', jwt({ alg: 'ES256', typ: 'at+jwt', jku: 'https://canary.example/' })],
    ['an ID token', jwt({ alg: 'ES256', typ: 'JWT' })],
    ['a logout token', jwt({ alg: 'ES256', typ: 'logout+jwt' })],
    ['a DPoP proof', jwt({ alg: 'ES256', typ: 'dpop+jwt' })],
  ])(
    'takes %s for the unknown value it is, and parses nothing (T-098, T-099, T-100)',
    async (_what, token) => {
      expect(await verifierOf({ 'token-1': good }).verify(token)).toBeUndefined();
    },
  );

  it('passes on that the source failed: that is no bad token', async () => {
    const source = { find: () => Promise.reject(new Error('the database is down')) };
    const verifier = createLocalVerifier({ source, issuer: 'https://mcp.example.com', now: () => now });
    await expect(verifier.verify('token-1')).rejects.toThrow('the database is down');
  });
});

function jwt(header: Record<string, unknown>): string {
  const claims = { iss: 'https://mcp.example.com', sub: 'ann', aud: good.audience, exp: now + 60 };
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode(header)}.${encode(claims)}.c2lnbmF0dXJl`;
}

it('A caller by token exchange has its actors, the present one first (RFC 8693 section 4.1)', async () => {
  const { verify } = verifierOf({ t: { ...good, actor: { sub: 'proxy', act: { sub: 'agent' } } }, u: good });
  expect(await verify('t')).toMatchObject({ actors: ['proxy', 'agent'] });
  expect(await verify('u')).not.toHaveProperty('actors');
});
