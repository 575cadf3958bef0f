import { describe, expect, it } from 'vitest';
import { chooseDpopKey, createDpopKey, dpopHandle } from '../../../src/client/tokens/dpop.ts';
import { testContext } from '../support/context.ts';
import { sha256 } from '../support/proofs.ts';

describe('what signs proofs', () => {
  it('is one for each key, so that a nonce is remembered however often the credential is read', async () => {
    const context = testContext();
    const key = await createDpopKey();
    const handle = await dpopHandle(context, key);
    expect(await dpopHandle(context, structuredClone(key))).toBe(handle);
    expect(await dpopHandle(context, await createDpopKey())).not.toBe(handle);
    expect(await dpopHandle(testContext(), key)).not.toBe(handle);
    const { crv, kty, x, y } = key;
    expect(await handle.calculateThumbprint()).toBe(sha256(JSON.stringify({ crv, kty, x, y })));
  });

  it('is forgotten where a context uses more than a hundred keys, the longest unused first', async () => {
    const context = testContext();
    const [first, second, ...others] = await Promise.all(Array.from({ length: 101 }, () => createDpopKey()));
    if (first === undefined || second === undefined) throw new Error('no keys');
    const [one, two] = [await dpopHandle(context, first), await dpopHandle(context, second)];
    await dpopHandle(context, first);
    for (const key of others) await dpopHandle(context, key);
    expect(await dpopHandle(context, first)).toBe(one);
    expect(await dpopHandle(context, second)).not.toBe(two);
  });

  it('needs a key that is not damaged', async () => {
    await expect(dpopHandle(testContext(), { kty: 'EC', alg: 'ES256' })).rejects.toMatchObject({
      reason: 'bad_key',
    });
  });
});

describe('dpop key', () => {
  const as = { issuer: 'https://as', authorization_endpoint: 'https://as/a', token_endpoint: 'https://as/t' };

  describe('the key of a bound token', () => {
    it.each([
      [undefined, 'ES256'],
      [['RS256', 'ES256'], 'ES256'],
      [['RS256', 'EdDSA', 'ES384'], 'ES384'],
      [['Ed25519'], 'Ed25519'],
      [['RS256'], 'RS256'],
    ])('where the server takes %j signs with %s (A13-09)', async (offered, algorithm) => {
      expect(await createDpopKey(offered)).toMatchObject({ alg: algorithm, d: expect.any(String) });
    });

    it.each([[[]], [['none']], [['HS256', 'unknown']]])(
      'is not made where the server takes only %j',
      async (offered) => {
        await expect(createDpopKey(offered)).rejects.toMatchObject({ reason: 'token_refused' });
      },
    );

    it('is another one for each login', async () => {
      const [one, other] = await Promise.all([createDpopKey(), createDpopKey()]);
      expect(one.x).not.toBe(other.x);
    });

    it.each([
      [undefined, undefined, false],
      [undefined, true, true],
      [true, undefined, true],
      [false, true, false],
    ] as const)(
      'where the caller says %s and the server requires it %s: %s (A13-11)',
      async (wanted, dpopRequired, made) => {
        const found = { authorizationServer: as, ...(dpopRequired ? { dpopRequired } : {}) };
        expect((await chooseDpopKey(found, wanted)) !== undefined).toBe(made);
      },
    );
  });
});
