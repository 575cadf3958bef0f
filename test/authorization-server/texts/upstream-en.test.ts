import { describe, expect, it } from 'vitest';
import { upstreamEn } from '../../../src/authorization-server/texts/upstream-en.ts';
import { flattenTexts } from './flatten-texts.ts';

describe('the English texts of logins elsewhere', () => {
  it('name the upstream they speak of', () => {
    expect(upstreamEn.logInWith('Work')).toContain('Work');
    expect(upstreamEn.approve.submit('Work')).toContain('Work');
    for (const words of [
      upstreamEn.fault.unavailable,
      upstreamEn.fault.refused,
      upstreamEn.fault.notAdmitted,
    ])
      expect(words('Work')).toContain('Work');
  });

  it('say something each', () => {
    for (const [place, words] of flattenTexts(upstreamEn)) expect(words, place).toMatch(/\p{L}/u);
  });
});
