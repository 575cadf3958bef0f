import { describe, expect, it } from 'vitest';
import { chooseProfiles, profiles } from '../../../src/doctor/profiles/profiles.ts';

describe('profiles of clients', () => {
  it('are chosen by name, in the order of the table', () => {
    expect(chooseProfiles(['vscode', 'claude-code']).map(({ name }) => name)).toEqual([
      'claude-code',
      'vscode',
    ]);
    expect(chooseProfiles(['all'])).toBe(profiles);
  });

  it('that do not exist are refused with the names there are', () => {
    expect(() => chooseProfiles(['netscape'])).toThrow(/no client netscape.*claude-code.*sdk-v1/s);
  });
});
