import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { flattenTexts } from './flatten-texts.ts';

describe('the English texts', () => {
  it('say something each, in Latin letters', () => {
    for (const [place, words] of flattenTexts(en)) {
      expect(words, place).toMatch(/\S/);
      expect(words, place).not.toMatch(/\p{Script=Han}/u);
    }
  });

  it('give short times in seconds and long ones in minutes', () => {
    expect(en.login.throttled(60)).toContain('wait 60 seconds and');
    expect(en.login.throttled(890)).toContain('wait 15 minutes and');
  });
});
