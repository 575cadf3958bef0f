import { expect, it } from 'vitest';
import { makeAll, SettingsRefused } from '../../src/settings/settings-refused.ts';

it('refused settings say every problem on a line of its own', () => {
  const refusal = new SettingsRefused(['one: is wrong', 'two: is wrong']);
  expect(refusal.problems).toEqual(['one: is wrong', 'two: is wrong']);
  expect(refusal.message).toBe('The settings cannot be used:\n- one: is wrong\n- two: is wrong');
  expect(refusal.name).toBe('SettingsRefused');
});

it('of several that are made all that is refused is told, in one', () => {
  const refuse = (problem: string) => () => {
    throw new SettingsRefused([problem]);
  };
  const good = () => 'good';
  expect(makeAll([good, () => 'also good'])).toEqual(['good', 'also good']);
  expect(() => makeAll<string>([refuse('one'), good, refuse('two')])).toThrow(/\n- one\n- two$/);
  const broken = () => {
    throw new TypeError('broken');
  };
  expect(() => makeAll<string>([refuse('one'), broken])).toThrow(TypeError);
});
