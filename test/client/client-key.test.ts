import { exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { readPrivateKey, signingKey } from '../../src/client/client-key.ts';

async function pemOf(algorithm: string): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return exportPKCS8(privateKey);
}

describe('a private key of a client', () => {
  it.each(['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256'])(
    'for %s is read from PEM without being told for what',
    async (algorithm) => {
      const key = await readPrivateKey(await pemOf(algorithm));
      expect(key).toMatchObject({ alg: algorithm, d: expect.any(String) });
      expect((await signingKey(key)).type).toBe('private');
    },
  );

  it('signs with the algorithm that is named, under the id that is named', async () => {
    const key = await readPrivateKey(await pemOf('RS256'), { algorithm: 'PS384', keyId: 'k1' });
    expect(key).toMatchObject({ kty: 'RSA', alg: 'PS384', kid: 'k1' });
  });

  it('is read from a JSON Web Key, of which only texts are kept', async () => {
    const { privateKey } = await generateKeyPair('ES384', { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), kid: 'k2', key_ops: ['sign'], ext: true };
    const key = await readPrivateKey(JSON.stringify(jwk));
    expect(key).toMatchObject({ kty: 'EC', crv: 'P-384', alg: 'ES384', kid: 'k2' });
    expect(key).not.toHaveProperty('key_ops');
    expect(JSON.parse(JSON.stringify(key))).toEqual(key);
  });

  it.each([
    ['-----BEGIN RSA PRIVATE KEY-----\nsecret', undefined, /openssl pkcs8 -topk8/],
    ['-----BEGIN EC PRIVATE KEY-----\nsecret', undefined, /openssl pkcs8 -topk8/],
    ['-----BEGIN ENCRYPTED PRIVATE KEY-----\nsecret', undefined, /encrypted/],
    ['-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----', undefined, /no key for ES256/],
    ['{"kty":"EC","crv":"P-256","x":"secret","y":"secret"}', undefined, /no private JSON Web Key/],
    ['{"kty":"EC","crv":"P-256","x":"x","y":"y","d":"secret"}', undefined, /no key for ES256/],
    ['{"kty":"EC","d":"secret","alg":"HS256"}', undefined, /HS256 is not supported/],
    ['{secret', undefined, /no JSON Web Key/],
    ['secret', undefined, /neither PEM/],
    ['secret', 'none', /algorithm is not supported/],
  ])(
    'that is none is refused with a sentence that says why, and nothing of it (T-191): %s',
    async (text, algorithm, why) => {
      const failure = await readPrivateKey(text, algorithm === undefined ? {} : { algorithm }).catch(
        (thrown: unknown) => thrown,
      );
      expect(failure).toMatchObject({ reason: 'bad_key', message: expect.stringMatching(why) });
      expect(String(failure)).not.toContain('secret');
    },
  );
});
