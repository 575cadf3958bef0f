import { normalizeEmail } from '../storage/accounts.ts';
import { CliError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import { printableLine } from './output.ts';
import { programName } from './program-name.ts';

/** Most accounts named in a hint. */
const maxNamed = 10;

/**
 * Chooses the account a local host acts for.
 * @param accounts all there are
 * @param named e-mail address or id of one; without it there must be one account only
 * @throws CliError where nothing can be chosen; its hint says what to do
 */
export function chooseLocalAccount<Account extends { id: string; email: string }>(
  accounts: readonly Account[],
  named: string | undefined,
): Account {
  const [only, ...others] = accounts;
  if (!only)
    throw new CliError(
      'There is no account to act for.',
      exitCodes.cannotServe,
      `Add one: ${programName} account add <email>`,
    );
  if (named !== undefined && named !== '') {
    const email = normalizeEmail(named);
    const found = accounts.find((account) => account.email === email || account.id === named);
    if (found) return found;
    throw new CliError(`There is no account ${printableLine(email).slice(0, 100)}.`, exitCodes.usage);
  }
  if (others.length === 0) return only;
  const emails = accounts.slice(0, maxNamed).map(({ email }) => printableLine(email));
  throw new CliError(
    `There are ${accounts.length} accounts. Say which one to act for.`,
    exitCodes.usage,
    `Name one with --account or GATEHOUSE_ACCOUNT: ${emails.join(', ')}${accounts.length > maxNamed ? ', …' : ''}`,
  );
}
