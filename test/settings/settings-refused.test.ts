import { expect, it } from 'vitest';
import { SettingsRefused } from '../../src/settings/settings-refused.ts';

it('refused settings say every problem on a line of its own', () => {
  const refusal = new SettingsRefused(['one: is wrong', 'two: is wrong']);
  expect(refusal.problems).toEqual(['one: is wrong', 'two: is wrong']);
  expect(refusal.message).toBe('The settings cannot be used:\n- one: is wrong\n- two: is wrong');
  expect(refusal.name).toBe('SettingsRefused');
});
