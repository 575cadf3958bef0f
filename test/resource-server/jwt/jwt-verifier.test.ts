import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { principalKey } from '../../../src/oauth/auth-info.ts';
import { createJwtVerifier, IssuerKeysUnavailable } from '../../../src/resource-server/index.ts';
import { createKey, resource, startIssuer, type TestIssuer, type TokenChoice } from './issuer.ts';

async function setUp(issuers?: TestIssuer[]) {
  const all = issuers ?? [await startIssuer()];
  const [issuer = all[0]] = all;
  if (!issuer) throw new Error('no issuer');
  return { issuer, verifier: createJwtVerifier({ issuers: all, resource }) };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a JWT access token', () => {
  it('tells who calls, for how long, and with which key (A12-11)', async () => {
    const { issuer, verifier } = await setUp();
    const caller = {
      issuer: issuer.issuer,
      subject: 'ada',
      clientId: 'client-1',
      scopes: ['files:read', 'files:write'],
      audience: resource,
      expiresAt: expect.any(Number),
    };
    expect(await verifier.verify(await issuer.sign())).toEqual(caller);
    const bound = await issuer.sign({ claims: { cnf: { jkt: 'thumbprint' } } });
    expect(await verifier.verify(bound)).toEqual({ ...caller, keyThumbprint: 'thumbprint' });
    const ofLogin = await issuer.sign({ claims: { auth_time: 5, amr: ['pwd'] } });
    expect(await verifier.verify(ofLogin)).toEqual({ ...caller, authTime: 5, amr: ['pwd'] });
  });

  it.each<[string, TokenChoice]>([
    ['an ID token', { header: { typ: 'JWT' } }],
    ['a logout token', { header: { typ: 'logout+jwt' } }],
    ['a DPoP proof', { header: { typ: 'dpop+jwt' } }],
    ['a client assertion, which has no type', { header: { typ: undefined } }],
    ['for another resource', { claims: { aud: 'https://other.example/mcp' } }],
    ['of an issuer that is not trusted', { claims: { iss: 'https://evil.example' } }],
    ['of the issuer in another spelling', { claims: { iss: 'https://as.example.com/' } }],
    ['expired', { claims: { exp: Math.floor(Date.now() / 1000) - 61 } }],
    ['without an expiry', { claims: { exp: undefined } }],
    ['without a client', { claims: { client_id: undefined } }],
    ['without an id', { claims: { jti: undefined } }],
    ['named by a path', { header: { kid: '../../dev/null' } }],
    ['named by SQL', { header: { kid: "' OR 1=1 --" } }],
    ['named by a megabyte', { header: { kid: 'a'.repeat(1_000_000) } }],
    ['named by nothing we know', { header: { kid: 'unknown' } }],
  ])('is nothing where it is %s (A12-11, T-097, T-099, T-100)', async (_what, choice) => {
    const { issuer, verifier } = await setUp();
    expect(await verifier.verify(await issuer.sign(choice))).toBeUndefined();
    expect(await verifier.verify(await issuer.sign())).toBeDefined();
  });

  it('is nothing where its signature is not of the key it names, or of none (T-098)', async () => {
    const { issuer, verifier } = await setUp();
    const { key: foreign } = await createKey('k1');
    expect(await verifier.verify(await issuer.sign({ key: foreign }))).toBeUndefined();
    const [header = '', payload = '', signature = ''] = (await issuer.sign()).split('.');
    const changed = encode({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'eve' });
    expect(await verifier.verify(`${header}.${changed}.${signature}`)).toBeUndefined();
    expect(await verifier.verify(`${header}.${payload}.`)).toBeUndefined();
    const none = encode({ alg: 'none', typ: 'at+jwt', kid: 'k1' });
    expect(await verifier.verify(`${none}.${payload}.`)).toBeUndefined();
  });

  it('is nothing where it is signed with the public key as a secret, or a key of another kind (T-098)', async () => {
    const { issuer, verifier } = await setUp();
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer.issuer,
      sub: 'ada',
      aud: resource,
      client_id: 'c',
      jti: 'j',
      iat: nowSeconds,
      exp: nowSeconds + 60,
    };
    const secret = new TextEncoder().encode(JSON.stringify(issuer.published.keys[0]));
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'k1' })
      .sign(secret);
    const { privateKey } = await generateKeyPair('RS256');
    const rsa = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'k1' })
      .sign(privateKey);
    for (const token of [shared, rsa]) expect(await verifier.verify(token)).toBeUndefined();
  });

  it('never has a key fetched from where its header points, nor taken from it: the canary stays silent (T-099)', async () => {
    const { issuer, verifier } = await setUp();
    const canary = await startIssuer('https://canary.example');
    const { key, publicKey } = await createKey('k1');
    for (const header of [
      { jku: canary.jwksUrl },
      { x5u: canary.jwksUrl },
      { jwk: publicKey },
      { x5c: ['MIIB'] },
      { jku: canary.jwksUrl, kid: 'unknown' },
    ])
      expect(await verifier.verify(await issuer.sign({ key, header }))).toBeUndefined();
    expect(canary.requests).toEqual([]);
  });

  it('costs the issuer nothing where a look at it is enough (T-098)', async () => {
    const { issuer, verifier } = await setUp();
    for (const choice of [
      { header: { typ: 'JWT' } },
      { claims: { iss: 'https://evil.example' } },
      { claims: { aud: 'https://other.example' } },
      { claims: { exp: 1 } },
    ])
      await verifier.verify(await issuer.sign(choice));
    for (const token of ['', '.', 'a.b.c', 'opaque', 'a'.repeat(100_000)]) await verifier.verify(token);
    expect(issuer.requests).toEqual([]);
  });

  it('is judged by nobody while the keys cannot be had: that is no bad token (A12-11)', async () => {
    const { issuer, verifier } = await setUp();
    issuer.answer = { status: 503 };
    await expect(verifier.verify(await issuer.sign())).rejects.toThrow(IssuerKeysUnavailable);
  });

  it('is held to the keys of its own issuer, of many (A12-11)', async () => {
    const [one, other] = [
      await startIssuer('https://one.example'),
      await startIssuer('https://other.example'),
    ];
    const { verifier } = await setUp([one, other]);
    expect(await verifier.verify(await other.sign())).toMatchObject({ issuer: 'https://other.example' });
    expect(await verifier.verify(await other.sign({ key: one.key }))).toBeUndefined();
    expect(
      await verifier.verify(await one.sign({ claims: { iss: 'https://other.example' } })),
    ).toBeUndefined();
  });

  it('names somebody else for the same subject of another issuer, whatever characters there are (T-104)', async () => {
    const [one, other] = [
      await startIssuer('https://one.example'),
      await startIssuer('https://one.example:8443'),
    ];
    const { verifier } = await setUp([one, other]);
    const subjects = ['ada', 'a:b', 'a\u0000b', '","', 'a:b:client-1'];
    const keys = new Set<string>();
    for (const issuer of [one, other])
      for (const sub of subjects) {
        const caller = await verifier.verify(await issuer.sign({ claims: { sub } }));
        if (caller) keys.add(principalKey(caller));
      }
    expect(keys.size).toBe(2 * subjects.length);
  });

  it('may be signed with an RSA or an Ed25519 key, too', async () => {
    const { issuer, verifier } = await setUp();
    for (const alg of ['RS256', 'PS256', 'Ed25519']) {
      const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
      issuer.published = { keys: [{ ...(await exportJWK(publicKey)), kid: alg, alg }] };
      const fresh = createJwtVerifier({ issuers: [issuer], resource });
      const key = { ...(await exportJWK(privateKey)), kid: alg, alg };
      expect(await fresh.verify(await issuer.sign({ key, header: { alg } }))).toBeDefined();
    }
    expect(verifier).toBeDefined();
  });
});
