import { describe, expect, it } from 'vitest';
import { readNewPassword } from '../../../src/authorization-server/account/password-page.ts';
import { en } from '../../../src/authorization-server/texts/en.ts';

const read = (next: string, repeat = next) => readNewPassword(en, new URLSearchParams({ next, repeat }));

describe('a new password', () => {
  it.each(['eight ch', '🔑'.repeat(8), ' spaces around ', 'x'.repeat(1024)])(
    'may be %j, exactly as typed (T-120)',
    (password) => {
      expect(read(password)).toEqual({ password });
    },
  );

  it.each([
    ['too short', 'seven c', 'seven c', /at least 8/],
    ['too long', 'x'.repeat(1025), 'x'.repeat(1025), /at most 1024/],
    ['not the same twice', 'a password', 'a Password', /not the same/],
    ['missing', '', '', /at least 8/],
  ])('that is %s is refused in a sentence', (_what, next, repeat, problem) => {
    expect(read(next, repeat)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
