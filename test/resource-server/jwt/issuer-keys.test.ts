import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createIssuerKeys,
  IssuerKeysUnavailable,
  readBounded,
} from '../../../src/resource-server/jwt/issuer-keys.ts';
import { createKey, startIssuer } from './issuer.ts';

afterEach(() => void vi.useRealTimers());

const token = { payload: '', signature: '' };
const header = (kid: string) => ({ alg: 'ES256', kid });

describe('the keys of an issuer', () => {
  it('are fetched once for all who need them at the same time, and kept (A12-11)', async () => {
    const issuer = await startIssuer();
    const keys = createIssuerKeys({ jwksUrl: issuer.jwksUrl, fetch });
    await Promise.all(Array.from({ length: 20 }, () => keys(header('k1'), token)));
    await keys(header('k1'), token);
    expect(issuer.requests).toHaveLength(1);
  });

  it('are not fetched again and again for ids that are made up (A12-11, T-099)', async () => {
    const issuer = await startIssuer();
    const keys = createIssuerKeys({ jwksUrl: issuer.jwksUrl, fetch });
    await keys(header('k1'), token);
    for (let at = 0; at < 50; at++)
      await expect(keys(header(`made-up-${at}`), token)).rejects.toMatchObject({
        code: 'ERR_JWKS_NO_MATCHING_KEY',
      });
    expect(issuer.requests).toHaveLength(1);
  });

  it('are fetched again for a new one, when a while has passed (A12-11)', async () => {
    const issuer = await startIssuer();
    const keys = createIssuerKeys({ jwksUrl: issuer.jwksUrl, fetch });
    await keys(header('k1'), token);
    issuer.published.keys.push((await createKey('k2')).publicKey);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    await keys(header('k2'), token);
    expect(issuer.requests).toHaveLength(2);
  });

  it('are not told apart where two have one id (T-099)', async () => {
    const issuer = await startIssuer();
    issuer.published.keys.push((await createKey('k1')).publicKey);
    const keys = createIssuerKeys({ jwksUrl: issuer.jwksUrl, fetch });
    await expect(keys(header('k1'), token)).rejects.toMatchObject({
      code: 'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
    });
  });

  it.each([
    ['an error', { status: 500 }],
    ['a redirect', { status: 302 }],
    ['no JSON', { body: '<html>' }],
    ['no keys', { body: '{}' }],
    ['more than 64 KB', { body: `{"keys":[],"x":"${'a'.repeat(70_000)}"}` }],
  ])(
    'cannot be had from %s; that is our failure, and the issuer is left alone for a while (T-057)',
    async (_what, answer) => {
      const issuer = await startIssuer();
      issuer.answer = answer;
      const keys = createIssuerKeys({ jwksUrl: issuer.jwksUrl, fetch });
      for (let at = 0; at < 5; at++)
        await expect(keys(header('k1'), token)).rejects.toThrow(IssuerKeysUnavailable);
      expect(issuer.requests).toHaveLength(1);
    },
  );
});

it('reads an answer up to the limit, and stops at the first byte beyond it (T-057)', async () => {
  expect(await readBounded(new Response('a'.repeat(10)), 10)).toBe('a'.repeat(10));
  expect(await readBounded(new Response(null), 10)).toBe('');
  let poured = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      poured += 5;
      controller.enqueue(new Uint8Array(5));
    },
  });
  await expect(readBounded(new Response(endless), 10)).rejects.toThrow(RangeError);
  expect(poured).toBeLessThan(40);
});
