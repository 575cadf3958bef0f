import type { restoreDataFolder } from '../../storage/sqlite/index.ts';
import { printableLine } from '../output.ts';

type RestoredRevocations = Awaited<ReturnType<typeof restoreDataFolder>>['restoredRevocations'];

/** Names shown of a list; the rest is counted. */
const shown = 20;

function list(names: readonly string[]): string {
  const more = names.length - shown;
  return `${names.slice(0, shown).map(printableLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Says what of the database that was replaced holds on, and what the operator has to decide anew.
 * @returns a sentence each; none where there is nothing to say
 */
export function describeCarriedOver(carried: RestoredRevocations): string[] {
  if (carried === undefined) return [];
  if (carried === 'unreadable')
    return [
      'The database that was there cannot be read: who was disabled or denied since the backup is let in again. See gatehouse account list and gatehouse client list.',
    ];
  const { refusedClients, disabledAccounts, renewedTokens, returnedAccounts, olderPasswords } = carried;
  const parts: [boolean, string][] = [
    [refusedClients.length > 0, `Clients that stay denied or removed: ${list(refusedClients)}.`],
    [disabledAccounts.length > 0, `Accounts that stay disabled: ${list(disabledAccounts)}.`],
    [renewedTokens > 0, `Registration access tokens that stay those of now: ${renewedTokens}.`],
    [
      returnedAccounts.length > 0,
      `Accounts that are back, which were not in the database that was replaced: ${list(returnedAccounts)}. To remove one again: gatehouse account remove EMAIL`,
    ],
    [
      olderPasswords.length > 0,
      `Accounts whose password is an older one again: ${list(olderPasswords)}. To have one set anew: gatehouse account reset EMAIL`,
    ],
  ];
  return parts.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
}
