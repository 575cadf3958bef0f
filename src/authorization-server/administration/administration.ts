import type { KeySet } from '../../crypto/keys.ts';
import { createSealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import { administerAccounts } from './accounts.ts';
import { administerClients } from './clients.ts';

/**
 * What an operator does, on the database of a running server or of one that is stopped. Whatever is removed takes its
 * sessions, grants and tokens along, at once and in every process.
 * @param now epoch seconds; the clock of the machine by default
 */
export function createAdministration(
  { storage, keys }: { storage: Storage; keys: KeySet },
  now: () => number = () => Math.floor(Date.now() / 1000),
) {
  const box = createSealedBox(keys.sealing);
  return {
    accounts: administerAccounts(storage.accounts, now),
    clients: administerClients(storage.clients, box, now),
  };
}
