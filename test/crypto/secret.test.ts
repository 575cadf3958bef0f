import { describe, expect, it, test } from 'vitest';
import {
  accountMark,
  createCookieSigner,
  datedSecret,
  equalSecrets,
  hashSecret,
  keyedDigest,
  randomSecret,
  takeRandom,
} from '../../src/crypto/secret.ts';

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

describe('a dated secret', () => {
  const secret = 's'.repeat(43);

  it('fits a URL, and is found by all of it', () => {
    const [one, other] = [datedSecret(1_800_000_000_000, secret), datedSecret(1_800_000_000_001, secret)];
    expect(one).toMatch(/^[\w-]{53}$/);
    const names = [one, other, secret, one.slice(10)].map((whole) => hashSecret('AccessToken', whole));
    expect(new Set(names.map((name) => name.slice(-43))).size).toBe(3);
  });

  it('has a name that says when, and nothing else of it, in the order of time', () => {
    const times = [0, 35, 36, 1_790_000_000_000, 1_800_000_000_000, 36 ** 9 - 1];
    const names = times.map((at) => hashSecret('AccessToken', datedSecret(at, randomSecret())));
    expect([...names].sort()).toEqual(names);
    expect(names.map((name) => Number.parseInt(name.slice(0, 9), 36))).toEqual(times);
    for (const name of names) expect(name).toMatch(/^[\da-z]{9}[\w-]{43}$/);
  });

  it('is not what only looks like one', () => {
    for (const other of [
      `0MYWPIWW0-${secret}`,
      `0mywpiww0-${secret}x`,
      `invited__-${secret}`,
      `mywpiww0-${secret}`,
      '-',
    ])
      expect(hashSecret('AccessToken', other)).toMatch(/^[\w-]{43}$/);
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

test('the mark of an account is always the same, that of another is another, and the id is not in it', () => {
  expect(accountMark('acc_1')).toMatch(/^[0-9a-f]{16}$/);
  expect(accountMark('acc_1')).toBe(accountMark('acc_1'));
  expect(accountMark('acc_1')).not.toBe(accountMark('acc_2'));
  expect(accountMark('abc')).not.toContain('abc');
});

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
