import { describe, expect, it } from 'vitest';
import { equalSecrets, hashSecret, keyedDigest, randomSecret, takeRandom } from '../../src/crypto/secret.ts';

describe('a random secret', () => {
  it('has 256 bits unless told otherwise, in characters that fit a URL', () => {
    expect(randomSecret()).toMatch(/^[\w-]{43}$/);
    expect(randomSecret(6)).toMatch(/^[\w-]{8}$/);
    expect(new Set(Array.from({ length: 1000 }, () => randomSecret())).size).toBe(1000);
  });
});

describe('random bytes out of stock', () => {
  it('are never given twice, also where the stock is filled again, whatever lengths are asked for', () => {
    const taken = Array.from({ length: 4_000 }, (_, at) => Buffer.from(takeRandom(at % 2 === 0 ? 12 : 32)));
    expect(taken.map(({ length }) => length).slice(0, 2)).toEqual([12, 32]);
    expect(new Set(taken.map((bytes) => bytes.toString('hex', 0, 12))).size).toBe(taken.length);
  });

  it('are not more than the stock has at once', () => {
    expect(takeRandom(1_024)).toHaveLength(1_024);
    expect(() => takeRandom(1_025)).toThrow(RangeError);
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
