import { describe, expect, it } from 'vitest';
import { accountEn } from '../../../src/authorization-server/texts/account-en.ts';
import { accountZhCn } from '../../../src/authorization-server/texts/account-zh-cn.ts';
import { flattenTexts } from './flatten-texts.ts';

describe('the Chinese texts of the account', () => {
  it('are those of the English ones, each in Chinese', () => {
    const english = new Map(flattenTexts(accountEn));
    const chinese = flattenTexts(accountZhCn);
    expect(chinese.map(([place]) => place)).toEqual([...english.keys()]);
    for (const [place, words] of chinese) expect(words, place).toMatch(/\p{Script=Han}/u);
  });

  it('hold the values that the English ones hold', () => {
    for (const [place, words] of flattenTexts(accountZhCn)) {
      const values =
        flattenTexts(accountEn)
          .find(([other]) => other === place)?.[1]
          .match(/\b\d+\b/g) ?? [];
      for (const value of values) expect(words, place).toContain(value);
    }
  });
});
