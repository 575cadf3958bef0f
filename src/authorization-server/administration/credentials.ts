import type { EnteredCredential } from '../../storage/backends.ts';
import type { Storage } from '../../storage/storage.ts';
import { findAccount } from './accounts.ts';
import { AdministrationRefused } from './administration-refused.ts';
import type { RecordAction } from './recorded.ts';

/** A credential for an MCP server as an operator sees it, without its value. */
export interface ListedCredential extends EnteredCredential {
  email: string;
}

/** Selection of the credentials to remove. */
export interface CredentialsToRemove {
  /** Name of the route in the settings. */
  route: string;
  /** Of this account only. */
  email?: string;
  /** This one only. */
  name?: string;
}

/**
 * Operations on the credentials that users entered for MCP servers behind the gateway.
 * @param record takes note of what was removed
 */
export function administerCredentials(
  { accounts, backendCredentials: store }: Pick<Storage, 'accounts' | 'backendCredentials'>,
  record: RecordAction,
) {
  async function list(email?: string): Promise<ListedCredential[]> {
    const asked = email === undefined ? await accounts.list() : [await findAccount(accounts, email)];
    const found: ListedCredential[] = [];
    for (const account of asked)
      for (const entered of await store.listOf(account.id)) found.push({ ...entered, email: account.email });
    return found;
  }

  return {
    /**
     * Returns who has entered what, and when, by account.
     * @throws AdministrationRefused if there is no such account
     */
    list,
    /**
     * Removes what was entered; processes and connections made with it end within a second.
     * @returns how many
     * @throws AdministrationRefused if there is no such account, or nothing was entered
     */
    async remove({ route, email, name }: CredentialsToRemove): Promise<number> {
      const wanted = (await list(email)).filter(
        (one) => one.route === route && (name === undefined || one.name === name),
      );
      let removed = 0;
      for (const one of wanted) if (await store.remove(one)) removed++;
      if (removed === 0)
        throw new AdministrationRefused(
          'not_found',
          `Nobody has entered that for ${route}. See gatehouse credential list.`,
        );
      const [account] = email === undefined ? [] : wanted;
      await record('credential.removed', {
        target: route,
        ...(account === undefined ? {} : { accountId: account.accountId }),
        ...(name === undefined ? {} : { credential: name }),
        count: String(removed),
      });
      return removed;
    },
  };
}
