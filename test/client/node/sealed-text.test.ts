import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openText, parseSealedText, sealText } from '../../../src/client/node/sealed-text.ts';

const key = randomBytes(32);
const where = { keychain: 'secret-service', key: 'reference' } as const;

describe('a sealed text', () => {
  it('shows nothing and is opened by its key only (A9-04)', () => {
    const box = sealText('very-secret ☃', key, where);
    expect(JSON.stringify(box)).not.toContain('very-secret');
    expect(openText(box, key)).toBe('very-secret ☃');
    expect(openText(box, randomBytes(32))).toBeUndefined();
    expect(sealText('very-secret ☃', key, where).sealed).not.toBe(box.sealed);
  });

  it.each([
    ['nonce', randomBytes(12).toString('base64url')],
    ['sealed', ''],
    ['sealed', randomBytes(64).toString('base64url')],
    ['key', 'another reference'],
    ['keychain', 'windows-dpapi'],
  ])('with another %s is not opened', (member, value) => {
    expect(openText({ ...sealText('x', key, where), [member]: value }, key)).toBeUndefined();
  });

  it('is read from a file, and other texts are none', () => {
    const box = sealText('x', key, where);
    expect(parseSealedText(JSON.stringify(box))).toEqual(box);
    for (const text of ['', '{', 'null', '{"version":1}', JSON.stringify({ ...box, keychain: 'pocket' })])
      expect(parseSealedText(text)).toBeUndefined();
  });
});
