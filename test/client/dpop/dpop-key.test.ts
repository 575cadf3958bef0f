import { describe, expect, it } from 'vitest';
import { chooseDpopKey, createDpopKey } from '../../../src/client/dpop/dpop-key.ts';

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
