import { describe, expect, it } from 'vitest';
import { createCookieSigner } from '../../src/crypto/cookie-signer.ts';

describe('a signer of cookies', () => {
  it('signs with the first key, takes signatures of all, and finds none of them worth setting anew (T-179)', () => {
    const keys = ['an old key'];
    const signer = createCookieSigner(keys);
    const old = signer.sign('name=value');
    keys.unshift('a new key');
    expect(signer.sign('name=value')).not.toBe(old);
    for (const signature of [old, signer.sign('name=value')]) {
      expect([signer.verify('name=value', signature), signer.index('name=value', signature)]).toEqual([
        true,
        0,
      ]);
      expect(signer.index('name=other', signature)).toBe(-1);
    }
    keys.pop();
    expect(signer.index('name=value', old)).toBe(-1);
  });
});
