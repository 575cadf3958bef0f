import { checkPassword, randomPassword } from '../crypto/password.ts';
import type { createAdministration } from '../index.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';

/** The account made at the first start. */
export interface FirstAccount {
  email: string;
  /** Only where we made it up: it is shown once and kept nowhere. */
  generatedPassword?: string;
}

/**
 * Makes one account where there is none, so that somebody can log in: from `GATEHOUSE_ACCOUNT_EMAIL` and
 * `GATEHOUSE_ACCOUNT_PASSWORD`, or with a random password.
 * @returns the account that was made; undefined where there were accounts already
 * @throws CliError where the password of the environment will not do
 */
export async function createFirstAccount(
  { accounts }: ReturnType<typeof createAdministration>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FirstAccount | undefined> {
  if ((await accounts.list()).length > 0) return undefined;
  const email = env.GATEHOUSE_ACCOUNT_EMAIL || 'owner@localhost';
  const given = env.GATEHOUSE_ACCOUNT_PASSWORD;
  const fault = given === undefined ? undefined : checkPassword(given);
  if (fault) throw new CliError(`GATEHOUSE_ACCOUNT_PASSWORD will not do. ${fault}`, exitCodes.usage);
  const password = given ?? randomPassword();
  const account = await accounts.add(email, password);
  return { email: account.email, ...(given === undefined ? { generatedPassword: password } : undefined) };
}
