import { type Account, type AccountStore, normalizeEmail } from '../../storage/accounts.ts';
import { AdministrationRefused } from './administration-refused.ts';

/** An address as it may stand in a message to a terminal without what hides or acts (T-190). */
export function printableEmail(email: string): string {
  return email.slice(0, 100).replace(/\p{C}/gu, '');
}

/**
 * Finds an account by its e-mail address.
 * @throws AdministrationRefused if there is none
 */
export async function findAccount(accounts: AccountStore, email: string): Promise<Account> {
  const account = await accounts.findByEmail(email);
  if (account) return account;
  throw new AdministrationRefused(
    'not_found',
    `There is no account ${printableEmail(normalizeEmail(email))}.`,
  );
}
