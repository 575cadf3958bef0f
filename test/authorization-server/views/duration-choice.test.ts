import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { renderDurationChoice } from '../../../src/authorization-server/views/duration-choice.ts';

describe('the choice of a duration', () => {
  it('has a button for each, and begins with the longest, which says how long that is', () => {
    const html = renderDurationChoice(en, {
      choices: ['hour', 'day', 'revoked'],
      longestSeconds: 180 * 86_400,
    }).toString();
    const buttons = [...html.matchAll(/type="radio" name="duration" value="(\w+)"( checked)?/g)];
    expect(buttons.map(([, value, checked]) => [value, checked !== undefined])).toEqual([
      ['hour', false],
      ['day', false],
      ['revoked', true],
    ]);
    expect(html).toContain('Until it is withdrawn, 180 days at most');
  });

  it('is a sentence where there is nothing to choose', () => {
    const html = renderDurationChoice(en, { choices: [], longestSeconds: 3600 }).toString();
    expect(html).toBe('<p>The app keeps this access for 60 minutes at most.</p>');
  });
});
