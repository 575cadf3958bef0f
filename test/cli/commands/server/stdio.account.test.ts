import { describe, expect, it } from 'vitest';
import { chooseLocalAccount } from '../../../../src/cli/commands/server/stdio.ts';

const ada = { id: 'acct_1', email: 'ada@example.com' };
const grace = { id: 'acct_2', email: 'grace@example.com' };

describe('the account of a local host', () => {
  it('is the only one, unless one is named', () => {
    expect(chooseLocalAccount([ada], undefined)).toBe(ada);
    expect(chooseLocalAccount([ada], '')).toBe(ada);
    expect(chooseLocalAccount([ada, grace], 'grace@example.com')).toBe(grace);
  });

  it('can be named as typed, or by its id', () => {
    expect(chooseLocalAccount([ada, grace], ' Ada@Example.com ')).toBe(ada);
    expect(chooseLocalAccount([ada, grace], 'acct_2')).toBe(grace);
  });

  it('must be named where there are several, and the hint names them', () => {
    expect(() => chooseLocalAccount([ada, grace], undefined)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: 'There are 2 accounts. Say which one to act for.',
        hint: 'Name one with --account or GATEHOUSE_ACCOUNT: ada@example.com, grace@example.com',
      }),
    );
    const many = Array.from({ length: 11 }, (_, n) => ({ id: `${n}`, email: `${n}@x.example` }));
    expect(() => chooseLocalAccount(many, undefined)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/9@x\.example, …$/) }),
    );
  });

  it('must exist; an unknown one is not replaced by the only one', () => {
    expect(() => chooseLocalAccount([ada], 'grace@example.com')).toThrow(
      expect.objectContaining({ exitCode: 2, message: 'There is no account grace@example.com.' }),
    );
    expect(() => chooseLocalAccount([], undefined)).toThrow(expect.objectContaining({ exitCode: 7 }));
  });
});
