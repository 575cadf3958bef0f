import { describe, expect, it } from 'vitest';
import { dpopHandle } from '../../../src/client/dpop/dpop-handle.ts';
import { createDpopKey } from '../../../src/client/dpop/dpop-key.ts';
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
