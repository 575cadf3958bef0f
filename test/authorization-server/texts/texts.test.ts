import { describe, expect, it } from 'vitest';
import { chooseTexts, languages } from '../../../src/authorization-server/texts/texts.ts';

describe('the languages', () => {
  it('answer each to their own tag, and no two to the same', () => {
    for (const { texts } of languages) expect(chooseTexts({ acceptLanguage: texts.language })).toBe(texts);
    const tags = languages.flatMap((language) => language.tags);
    expect(new Set(tags).size).toBe(tags.length);
  });
});

describe('the language of a page', () => {
  it.each([
    ['zh', 'zh-CN'],
    ['zh-CN', 'zh-CN'],
    ['zh-Hans', 'zh-CN'],
    ['ZH-hans-SG', 'zh-CN'],
    ['zh-Hans-x-private', 'zh-CN'],
    ['zh-TW,zh;q=0.9,en;q=0.8', 'zh-CN'],
    ['en-GB', 'en'],
    ['fr', 'en'],
    ['fr-CH, fr;q=0.9, zh;q=0.5, en;q=0.4', 'zh-CN'],
    ['en;q=0.4, zh;q=0.5', 'zh-CN'],
    ['zh;q=0, en', 'en'],
    ['*', 'en'],
    ['*, zh;q=0.1', 'zh-CN'],
    ['zho', 'en'],
    ['', 'en'],
  ])('for Accept-Language "%s" is %s (RFC 4647 lookup)', (acceptLanguage, language) => {
    expect(chooseTexts({ acceptLanguage }).language).toBe(language);
  });

  it.each([
    ['zh-CN', 'en', 'zh-CN'],
    ['en', 'zh-CN', 'en'],
    ['fr zh', 'en', 'zh-CN'],
    ['fr', 'zh', 'zh-CN'],
    ['', 'zh', 'zh-CN'],
  ])('is asked of ui_locales "%s" before Accept-Language "%s": %s', (uiLocales, acceptLanguage, language) => {
    expect(chooseTexts({ uiLocales, acceptLanguage }).language).toBe(language);
  });

  it.each([
    'zh\u0000',
    '__proto__',
    'zh_CN',
    `${'a-'.repeat(50_000)}zh`,
    `${'fr '.repeat(50_000)}zh`,
    ';;;q=zh',
    'zh;q=banana',
    'zh;q=-1',
    'zh;q=2',
  ])('is English where nothing but nonsense is sent (T-022)', (sent) => {
    expect(chooseTexts({ uiLocales: sent, acceptLanguage: sent }).language).toBe('en');
  });
});
