import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFirstAccount } from '../../../../src/cli/commands/server/welcome.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';

const make = (env: Record<string, string>, folder = join(testFolder(), 'data')) =>
  withInstallation(folder, ({ administration }) => createFirstAccount(administration, env));

describe('the first account', () => {
  it('is that of the environment, whose password is not given back', async () => {
    const env = {
      GATEHOUSE_ACCOUNT_EMAIL: 'Me@example.com',
      GATEHOUSE_ACCOUNT_PASSWORD: 'from the environment',
    };
    expect(await make(env)).toEqual({ email: 'me@example.com' });
  });

  it('without an environment has a password made up here, never twice the same', async () => {
    const [one, other] = await Promise.all([make({}), make({})]);
    expect(one).toEqual({
      email: 'owner@localhost',
      generatedPassword: expect.stringMatching(/^[\w-]{23}$/),
    });
    expect(one?.generatedPassword).not.toBe(other?.generatedPassword);
  });

  it('is not made where there is one', async () => {
    expect(
      await make({ GATEHOUSE_ACCOUNT_EMAIL: 'me@example.com' }, await newInstallation()),
    ).toBeUndefined();
  });

  it.each([
    [{ GATEHOUSE_ACCOUNT_EMAIL: 'nobody' }, /is not an e-mail address/],
    [{ GATEHOUSE_ACCOUNT_PASSWORD: 'short' }, /at least 8 characters/],
    [{ GATEHOUSE_ACCOUNT_PASSWORD: '' }, /at least 8 characters/],
  ])('is refused with the reason where the environment is wrong: %j', async (env, reason) => {
    await expect(make(env)).rejects.toThrow(reason);
  });
});
