import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';

describe('a master key', () => {
  it('is read as base64url, base64 or hexadecimal, with a line end, and has the same id in each form', () => {
    const bytes = randomBytes(32);
    const forms = [
      bytes.toString('base64url'),
      `${bytes.toString('base64')}\n`,
      ` ${bytes.toString('hex')} `,
    ];
    const keys = forms.map(parseMasterKey);
    expect(new Set(keys.map((key) => JSON.stringify(key))).size).toBe(1);
    expect(keys[0]?.key).toBe(bytes.toString('base64url'));
  });

  it('that is generated can be read, and is another each time', () => {
    const keys = [generateMasterKey(), generateMasterKey()].map((text) => parseMasterKey(text)?.id);
    expect(keys).toEqual([expect.stringMatching(/^master-/), expect.stringMatching(/^master-/)]);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it.each([
    '',
    'changeme',
    'a'.repeat(64),
    Buffer.alloc(32).toString('base64'),
    randomBytes(31).toString('hex'),
  ])('is no word, no repeated byte and no shorter key: %s (T-163)', (text) => {
    expect(parseMasterKey(text)).toBeUndefined();
  });
});
