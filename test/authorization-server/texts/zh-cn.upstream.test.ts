import { describe, expect, it } from 'vitest';
import { upstreamZhCn } from '../../../src/authorization-server/texts/zh-cn.ts';
import { flattenTexts } from './flatten-texts.ts';

describe('the Chinese texts of logins elsewhere', () => {
  it('name the upstream they speak of', () => {
    expect(upstreamZhCn.logInWith('Work')).toContain('Work');
    expect(upstreamZhCn.approve.submit('Work')).toContain('Work');
    for (const words of [
      upstreamZhCn.fault.unavailable,
      upstreamZhCn.fault.refused,
      upstreamZhCn.fault.notAdmitted,
    ])
      expect(words('Work')).toContain('Work');
  });

  it('say something each', () => {
    for (const [place, words] of flattenTexts(upstreamZhCn)) expect(words, place).toMatch(/\p{L}/u);
  });
});
