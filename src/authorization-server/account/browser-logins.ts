import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import type { SessionBrowser } from '../engine/session-browser.ts';
import { openPayload } from '../engine/stored-rows.ts';
import { upstreamSessionOfAcr } from '../upstream-login/login-acr.ts';
import type { BrowserLogin } from '../views/account/overview.ts';

/** The browsers in which an account is logged in. */
export interface BrowserLogins {
  /**
   * Returns them, the youngest login first, their upstreams by name.
   * @param ownUid `uid` of the session that asks; undefined for nobody's
   */
  list(accountId: string, ownUid?: string): Promise<BrowserLogin[]>;
  /** Ends one; false if the account has none with this id. */
  end(accountId: string, id: string): Promise<boolean>;
  /** Ends all but one's own, and gives how many. */
  endOthers(accountId: string, ownUid?: string): Promise<number>;
}

const kind = 'Session';

/** The part of the engine's session that says who is logged in, and how. */
interface SessionPayload extends SessionBrowser {
  uid: string;
  loginTs: number;
  acr?: string;
}

/**
 * Creates the list of logins. Its ids are the stored names of sessions, with which nobody can enter one (T-124).
 * @param now epoch seconds
 */
export function createBrowserLogins(
  { artifacts, upstreams }: Pick<Storage, 'artifacts' | 'upstreams'>,
  box: SealedBox,
  now: () => number,
): BrowserLogins {
  async function upstreamOf(acr: string | undefined): Promise<string | undefined> {
    const sessionId = upstreamSessionOfAcr(acr);
    return sessionId === undefined ? undefined : (await upstreams.linkOfSession(sessionId))?.upstream;
  }

  async function list(accountId: string, ownUid?: string): Promise<BrowserLogin[]> {
    const rows = (await artifacts.listOf(kind, accountId)).filter(({ expiresAt }) => expiresAt > now());
    const logins = await Promise.all(
      rows.map(async (row) => {
        const { uid, loginTs, acr, browser } = openPayload<SessionPayload>(box, kind, row);
        const upstream = await upstreamOf(acr);
        return {
          id: row.id,
          isThis: uid === ownUid,
          loggedInAt: loginTs,
          ...(browser && { browser }),
          ...(upstream === undefined ? undefined : { upstream }),
        };
      }),
    );
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
