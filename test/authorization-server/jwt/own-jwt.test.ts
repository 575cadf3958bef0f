import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { jwtTokenId, looksLikeJwt, readOwnJwt } from '../../../src/authorization-server/jwt/own-jwt.ts';
import { generateSigningKey } from '../../../src/crypto/key-schedule.ts';
import { hashSecret } from '../../../src/crypto/secret.ts';

const issuer = 'https://as.example.com';

let ours: JWK;
let older: JWK;
let foreign: JWK;
beforeAll(async () => {
  [ours, older, foreign] = [
    await generateSigningKey(),
    await generateSigningKey(),
    await generateSigningKey(),
  ];
});

interface Choice {
  key?: JWK;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}

function sign({ key = ours, header = {}, claims = {} }: Choice = {}): Promise<string> {
  return new SignJWT({ iss: issuer, jti: 'id', sub: 'ada', ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: String(key.kid), ...header })
    .sign(key);
}

const read = (token: string) => readOwnJwt(token, { issuer, signing: [ours, older] });

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('an access token that this installation signed', () => {
  it('leads to its row, whichever of our keys signed it', async () => {
    expect(await read(await sign())).toBe(jwtTokenId('id'));
    expect(await read(await sign({ key: older }))).toBe(jwtTokenId('id'));
  });

  it('cannot be had from its id: no opaque token is stored under that name', () => {
    expect(jwtTokenId('id')).not.toBe(hashSecret('AccessToken', 'id'));
  });

  it('is told from an opaque one by its dots', async () => {
    expect(looksLikeJwt(await sign())).toBe(true);
    expect(looksLikeJwt('V1StGXR8_Z5jdHi6B-myTabcdefg')).toBe(false);
  });

  it.each<[string, Choice]>([
    ['an ID token', { header: { typ: 'JWT' } }],
    ['a logout token', { header: { typ: 'logout+jwt' } }],
    ['a DPoP proof', { header: { typ: 'dpop+jwt' } }],
    ['a JWT without a type', { header: { typ: undefined } }],
    ['a token of another issuer', { claims: { iss: 'https://other.example.com' } }],
    ['a token without an id', { claims: { jti: undefined } }],
    ['a token whose id is a number', { claims: { jti: 7 } }],
    ['a token with a very long id', { claims: { jti: 'a'.repeat(129) } }],
    ['a key id that is a path', { header: { kid: '../../dev/null' } }],
    ['a key id that is SQL', { header: { kid: "' OR '1'='1" } }],
    ['no key id', { header: { kid: undefined } }],
  ])('is not %s (T-099, T-100)', async (_what, choice) => {
    expect(await read(await sign(choice))).toBeUndefined();
  });

  it('is not signed with another key, under its own id or ours (T-099)', async () => {
    expect(await read(await sign({ key: foreign }))).toBeUndefined();
    expect(await read(await sign({ key: foreign, header: { kid: ours.kid } }))).toBeUndefined();
  });

  it('is not signed with the algorithm none, a shared secret or RSA (T-098)', async () => {
    const payload = encode({ iss: issuer, jti: 'id' });
    const { d: _d, ...publicPart } = ours;
    expect(
      await read(`${encode({ alg: 'none', typ: 'at+jwt', kid: ours.kid })}.${payload}.`),
    ).toBeUndefined();
    const secret = new TextEncoder().encode(JSON.stringify(publicPart));
    const shared = await new SignJWT({ iss: issuer, jti: 'id' })
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: String(ours.kid) })
      .sign(secret);
    expect(await read(shared)).toBeUndefined();
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    expect(
      await read(
        await sign({
          key: { ...(await exportJWK(privateKey)), kid: ours.kid ?? '', alg: 'RS256' },
          header: { alg: 'RS256' },
        }),
      ),
    ).toBeUndefined();
  });

  it('is not changed after it was signed (T-098)', async () => {
    const [header = '', , signature = ''] = (await sign()).split('.');
    expect(await read(`${header}.${encode({ iss: issuer, jti: 'other' })}.${signature}`)).toBeUndefined();
  });

  it('is not of the key its header brings or points to (T-099)', async () => {
    const { d: _d, ...publicPart } = foreign;
    const own = await sign({ key: foreign, header: { jwk: publicPart, jku: 'https://evil.example/jwks' } });
    expect(await read(own)).toBeUndefined();
  });

  it.each(['', '.', '..', 'a.b.c', 'x.y', `${'a'.repeat(1_000_000)}.b.c`])(
    'is nothing that only looks like one: %#',
    async (token) => {
      expect(await read(token)).toBeUndefined();
    },
  );
});
