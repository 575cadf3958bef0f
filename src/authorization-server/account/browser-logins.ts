import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { openPayload } from '../engine/stored-names.ts';
import type { BrowserLogin } from '../views/account/overview.ts';

/** The browsers in which an account is logged in. */
export interface BrowserLogins {
  /** Gives them, the youngest login first. @param ownUid `uid` of the session that asks; undefined for nobody's */
  list(accountId: string, ownUid?: string): Promise<BrowserLogin[]>;
  /** Ends one; false where the account has none with this id. */
  end(accountId: string, id: string): Promise<boolean>;
  /** Ends all but one's own, and gives how many. */
  endOthers(accountId: string, ownUid?: string): Promise<number>;
}

const kind = 'Session';

/**
 * Creates the list of logins. Its ids are the stored names of sessions, with which nobody can enter one (T-124).
 * @param now epoch seconds
 */
export function createBrowserLogins(
  artifacts: ArtifactStore,
  box: SealedBox,
  now: () => number,
): BrowserLogins {
  async function list(accountId: string, ownUid?: string): Promise<BrowserLogin[]> {
    const rows = (await artifacts.listOf(kind, accountId)).filter(({ expiresAt }) => expiresAt > now());
    const logins = rows.map((row) => {
      const { uid, loginTs } = openPayload<{ uid: string; loginTs: number }>(box, kind, row);
      return { id: row.id, isThis: uid === ownUid, loggedInAt: loginTs };
    });
    return logins.sort((a, b) => Number(b.isThis) - Number(a.isThis) || b.loggedInAt - a.loggedInAt);
  }

  async function remove(id: string): Promise<boolean> {
    return (await artifacts.commit([{ type: 'remove', kind, id, mustExist: true }])).committed;
  }

  return {
    list,
    async end(accountId, id) {
      const isTheirs = (await list(accountId)).some((login) => login.id === id);
      return isTheirs && remove(id);
    },
    async endOthers(accountId, ownUid) {
      const others = (await list(accountId, ownUid)).filter(({ isThis }) => !isThis);
      const removed = await Promise.all(others.map(({ id }) => remove(id)));
      return removed.filter(Boolean).length;
    },
  };
}
