import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { zhCn } from '../../../src/authorization-server/texts/zh-cn.ts';
import { flattenTexts } from './flatten-texts.ts';

/** What is rightly the same in every language: the product's name, a host by itself, quotation marks. */
const sameEverywhere = new Set(['layout.product', 'consent.target.host', 'client.quoted']);

/** Texts without a word, which only put others together. */
const wordless = new Set(['language', 'layout.title', ...sameEverywhere]);

const originals = new Map(flattenTexts(en));
const translated = flattenTexts(zhCn);

describe('the Chinese texts', () => {
  it('are those of the English catalogue, none missing, none more', () => {
    expect(translated.map(([place]) => place).sort()).toEqual([...originals.keys()].sort());
  });

  it('are in Chinese, nothing left in English', () => {
    for (const [place, words] of translated) {
      if (!sameEverywhere.has(place)) expect(words, place).not.toBe(originals.get(place));
      if (!wordless.has(place)) expect(words, place).toMatch(/\p{Script=Han}/u);
    }
  });

  it('hold every value that the English text holds, in whatever order', () => {
    for (const [place, words] of translated) {
      const values = (text = '') => text.match(/\d+/g)?.sort();
      expect(values(words), place).toEqual(values(originals.get(place)));
    }
  });
});
