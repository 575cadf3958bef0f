import { importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { generateKeySet } from '../../src/crypto/keys.ts';

describe('a new key set', () => {
  it('has one fresh key of each sort, of full strength', async () => {
    const [one, other] = await Promise.all([generateKeySet(), generateKeySet()]);
    expect(Buffer.from(one.sealing[0]?.key ?? '', 'base64url')).toHaveLength(32);
    expect(Buffer.from(one.cookies[0] ?? '', 'base64url')).toHaveLength(32);
    expect(one.sealing[0]?.key).not.toBe(other.sealing[0]?.key);
    expect(one.cookies[0]).not.toBe(other.cookies[0]);
    expect(one.signing[0]?.d).not.toBe(other.signing[0]?.d);
  });

  it('signs with ES256 under a key id of its own', async () => {
    const { signing } = await generateKeySet();
    expect(signing[0]).toMatchObject({
      kty: 'EC',
      crv: 'P-256',
      alg: 'ES256',
      use: 'sig',
      kid: expect.any(String),
    });
    await expect(importJWK(signing[0] ?? {}, 'ES256')).resolves.toMatchObject({ type: 'private' });
  });
});
