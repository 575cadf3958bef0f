import type { createAdministration } from '../authorization-server/administration/administration.ts';

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
 * @throws AdministrationRefused where the address or the password of the environment will not do
 */
export async function createFirstAccount(
  { accounts }: ReturnType<typeof createAdministration>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FirstAccount | undefined> {
  if ((await accounts.list()).length > 0) return undefined;
  const email = env.GATEHOUSE_ACCOUNT_EMAIL || 'owner@localhost';
  const given = env.GATEHOUSE_ACCOUNT_PASSWORD;
  const generatedPassword = given === undefined ? accounts.suggestPassword() : undefined;
  const account = await accounts.add(email, given ?? generatedPassword ?? '');
  return { email: account.email, ...(generatedPassword === undefined ? undefined : { generatedPassword }) };
}
