import { describe, expect, it } from 'vitest';
import { equalSecrets, hashSecret, keyedDigest, randomSecret } from '../../src/crypto/secret.ts';

describe('a random secret', () => {
  it('has 256 bits unless told otherwise, in characters that fit a URL', () => {
    expect(randomSecret()).toMatch(/^[\w-]{43}$/);
    expect(randomSecret(6)).toMatch(/^[\w-]{8}$/);
    expect(new Set(Array.from({ length: 1000 }, () => randomSecret())).size).toBe(1000);
  });
});

describe('the hash of a secret', () => {
  it('depends on the secret and on its kind, whose parts cannot run into each other (T-031)', () => {
    const hashes = [
      hashSecret('AccessToken', 'x'),
      hashSecret('RefreshToken', 'x'),
      hashSecret('AccessToken', 'y'),
      hashSecret('AccessTokenx', ''),
      hashSecret('', 'AccessTokenx'),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashSecret('AccessToken', 'x')).toBe(hashes[0]);
    expect(hashes[0]).toMatch(/^[\w-]{43}$/);
  });
});

describe('a keyed digest', () => {
  it('depends on the key and on each part', () => {
    const digests = [
      keyedDigest('key', 'a', 'b'),
      keyedDigest('yek', 'a', 'b'),
      keyedDigest('key', 'ab'),
      keyedDigest('key', 'a', 'b', ''),
      keyedDigest('key', 'b', 'a'),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(keyedDigest('key', 'a', 'b')).toBe(digests[0]);
  });
});

describe('equal secrets', () => {
  it.each([
    ['abc', 'abc', true],
    ['', '', true],
    ['abc', 'abd', false],
    ['abc', 'ab', false],
    ['abc', '', false],
    ['é', 'e\u0301', false],
  ])('%j and %j: %s', (a, b, equal) => {
    expect(equalSecrets(a, b)).toBe(equal);
  });
});
