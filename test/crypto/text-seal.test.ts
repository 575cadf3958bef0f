import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSealedBox } from '../../src/crypto/sealed-box.ts';
import { createTextSeal } from '../../src/crypto/text-seal.ts';

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
