import { describe, expect, it } from 'vitest';
import { FormRefused } from '../../../src/authorization-server/interactions/form.ts';
import { offeredDurations, readDuration } from '../../../src/authorization-server/views/duration-choice.ts';

const days = 86_400;
const form = (duration?: string): URLSearchParams =>
  new URLSearchParams(duration === undefined ? {} : { duration });

describe('the durations a person can choose', () => {
  it('are those that are shorter than a consent lives, and that', () => {
    expect(offeredDurations(180 * days)).toEqual(['hour', 'day', 'revoked']);
    expect(offeredDurations(days)).toEqual(['hour', 'revoked']);
    expect(offeredDurations(600)).toEqual(['revoked']);
  });

  it.each([
    ['hour', 3600],
    ['day', days],
    ['revoked', 180 * days],
    [undefined, 180 * days],
  ])('read from a form, %s is %i seconds', (chosen, seconds) => {
    expect(readDuration(form(chosen), 180 * days)).toBe(seconds);
  });

  it.each(['', 'week', '3600', 'toString', '__proto__', 'Hour'])(
    'are none but these: "%s" is refused',
    (other) => {
      expect(() => readDuration(form(other), 180 * days)).toThrow(FormRefused);
    },
  );

  it('that would last longer than a consent may are refused', () => {
    expect(() => readDuration(form('day'), 3600)).toThrow(FormRefused);
  });
});
