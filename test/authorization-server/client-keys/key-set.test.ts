import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkKeySet, checkKeySetUrl } from '../../../src/authorization-server/client-keys/key-set.ts';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = pair.publicKey.export({ format: 'jwk' });

describe('a key set of a client', () => {
  it('is taken where it holds public keys, of whatever kind', () => {
    expect(checkKeySet({ keys: [key] })).toBeUndefined();
    expect(checkKeySet({ keys: Array(20).fill(key), more: 1 })).toBeUndefined();
    expect(checkKeySet({ keys: [{ kty: 'of the future' }] })).toBeUndefined();
  });

  it.each([
    ['nothing', undefined, 'is no JSON Web Key Set'],
    ['null', null, 'is no JSON Web Key Set'],
    ['a list', [key], 'is no JSON Web Key Set'],
    ['keys that are no list', { keys: { 0: key } }, 'is no JSON Web Key Set'],
    ['no key', { keys: [] }, 'holds no key'],
    ['ten thousand keys', { keys: Array(10_000).fill(key) }, 'holds more than 20 keys'],
    ['text', { keys: ['key'] }, 'holds something that is no JSON Web Key'],
    ['a key without a kind', { keys: [{ x: 'x' }] }, 'holds something that is no JSON Web Key'],
    ['a private key', { keys: [key, pair.privateKey.export({ format: 'jwk' })] }, 'holds a private key'],
    ['a shared secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, 'holds a private key'],
  ])('is refused with %s in it (T-057, T-074)', (_what, value, fault) => {
    expect(checkKeySet(value)).toBe(fault);
  });
});

describe('the URL of a key set', () => {
  it('is an https URL and nothing more', () => {
    expect(checkKeySetUrl('https://app.example.com/keys.json?v=1')).toBeUndefined();
    for (const url of [
      undefined,
      1,
      '',
      'keys.json',
      'http://app.example.com/keys.json',
      'https://user@app.example.com/keys.json',
      'https://app.example.com/keys.json#fragment',
      'file:///etc/passwd',
      `https://app.example.com/${'a'.repeat(2048)}`,
    ])
      expect(checkKeySetUrl(url)).toMatch(/https URL/);
  });
});
