import { randomBytes } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { createSealedBox, createTextSeal, SealBroken, type SealingKey } from '../../src/crypto/sealed-box.ts';

const newKey = (id: string): SealingKey => ({ id, key: randomBytes(32).toString('base64url') });

describe('a sealed box', () => {
  it.each(['', 'text', 'ünïcode 🗝 \u0000', 'x'.repeat(100_000)])('opens what it sealed: %.10j', (text) => {
    const box = createSealedBox([newKey('a')]);
    expect(box.open(box.seal(text, 'Grant:1'), 'Grant:1')).toBe(text);
  });

  it('shows nothing of the text and never seals it twice alike', () => {
    const box = createSealedBox([newKey('a')]);
    const sealed = Array.from({ length: 100 }, () => box.seal('the secret text', 'x').toString('latin1'));
    expect(new Set(sealed).size).toBe(100);
    expect(sealed.some((bytes) => bytes.includes('secret'))).toBe(false);
  });

  it('opens under no other context: a payload moved to another row is refused', () => {
    const box = createSealedBox([newKey('a')]);
    expect(() => box.open(box.seal('text', 'Grant:1'), 'Grant:2')).toThrow(SealBroken);
  });

  it('opens nothing that was changed, in any byte', () => {
    const box = createSealedBox([newKey('a')]);
    const sealed = box.seal('text', 'x');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => box.open(changed, 'x'), `byte ${at}`).toThrow(SealBroken);
    }
  });

  it('opens nothing that was cut short', () => {
    const box = createSealedBox([newKey('a')]);
    const sealed = box.seal('text', 'x');
    for (let length = 0; length < sealed.length; length++)
      expect(() => box.open(sealed.subarray(0, length), 'x'), `${length} bytes`).toThrow(SealBroken);
  });

  it('takes no shortened tag: only all 16 bytes of it authenticate', () => {
    const box = createSealedBox([newKey('a')]);
    const sealed = box.seal('', 'x');
    for (const tagBytes of [4, 8, 12, 13, 14, 15])
      expect(() => box.open(sealed.subarray(0, sealed.length - 16 + tagBytes), 'x')).toThrow(SealBroken);
  });

  it('seals with the first key and opens with every one, so that keys can be rotated', () => {
    const [old, fresh] = [newKey('old'), newKey('fresh')];
    const before = createSealedBox([old]).seal('text', 'x');
    const rotated = createSealedBox([fresh, old]);
    expect(rotated.open(before, 'x')).toBe('text');
    const after = rotated.seal('text', 'x');
    expect(createSealedBox([fresh]).open(after, 'x')).toBe('text');
    expect(() => createSealedBox([old]).open(after, 'x')).toThrow(/a key that is not in the key file/);
  });

  it('opens nothing with another key of the same name', () => {
    const sealed = createSealedBox([newKey('a')]).seal('text', 'x');
    expect(() => createSealedBox([newKey('a')]).open(sealed, 'x')).toThrow(SealBroken);
  });

  it('needs a key', () => {
    expect(() => createSealedBox([])).toThrow('at least one key');
  });

  it('opens a view into a larger buffer', () => {
    const box = createSealedBox([newKey('a')]);
    const sealed = box.seal('text', 'x');
    const larger = Buffer.concat([Buffer.from('before'), sealed, Buffer.from('after')]);
    expect(box.open(new Uint8Array(larger.buffer, larger.byteOffset + 6, sealed.length), 'x')).toBe('text');
  });
});

const key = () => ({ id: 'k', key: randomBytes(32).toString('base64url') });
const seal = createTextSeal(createSealedBox([key()]));

test('text is read back in its context, and is not seen in what goes out', () => {
  const sealed = seal.seal('a secret: ä', 'of ann');
  expect(seal.open(sealed, 'of ann')).toBe('a secret: ä');
  expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('secret');
});

test('another context, another key, a changed character and anything else give nothing (T-129)', () => {
  const sealed = seal.seal('x', 'of ann');
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
  const other = createTextSeal(createSealedBox([key()])).seal('x', 'of ann');
  expect(seal.open(sealed, 'of bob')).toBeUndefined();
  for (const wrong of [changed, other, '', 'v1.abc.def', '____', 'A'.repeat(10_000)])
    expect(seal.open(wrong, 'of ann')).toBeUndefined();
});

test('another spelling of the same bytes gives nothing: what is sealed has one name', () => {
  const texts = Array.from({ length: 8 }, (_, length) => seal.seal('x'.repeat(length), 'of ann'));
  const spellings = texts.flatMap((sealed) => {
    const last = sealed.at(-1) ?? '';
    const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
      (c) => c !== last,
    );
    return [
      `${sealed}=`,
      `${sealed}!`,
      `.${sealed}`,
      `${sealed} `,
      ...others.map((c) => sealed.slice(0, -1) + c),
    ];
  });
  for (const spelling of spellings) expect(seal.open(spelling, 'of ann')).toBeUndefined();
  for (const sealed of texts) expect(seal.open(sealed, 'of ann')).toBeDefined();
});
