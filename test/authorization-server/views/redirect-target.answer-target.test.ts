import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { describeAnswerTarget } from '../../../src/authorization-server/views/redirect-target.ts';

describe('where an answer goes', () => {
  it('is told of a redirect URI as it is without a device', () => {
    expect(describeAnswerTarget(en, { redirectUri: 'https://app.example.com/cb' })).toEqual({
      kind: 'host',
      name: 'app.example.com',
      detail: 'https://app.example.com/cb',
    });
    expect(() => describeAnswerTarget(en, { redirectUri: 'javascript:alert(1)' })).toThrow(TypeError);
  });

  it.each([
    [0, 'less than a minute ago'],
    [59, 'less than a minute ago'],
    [60, '1 minute ago'],
    [599, '9 minutes ago'],
  ])('is the device that shows the code, asked for %i seconds ago', (askedSecondsAgo, words) => {
    const device = { userCode: 'BCDF-GHJK', address: '203.0.113.7', askedSecondsAgo };
    expect(describeAnswerTarget(en, { device })).toEqual({
      kind: 'device',
      name: 'BCDF-GHJK',
      detail: `requested from 203.0.113.7, ${words}`,
    });
  });
});
