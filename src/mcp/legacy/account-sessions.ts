import { type AuthInfo, accountKeyPrefix, clientOfPrincipal } from '../../oauth/auth-info.ts';
import type { McpSessionStore, StoredSession } from '../../storage/mcp-sessions.ts';
import { hashGrant } from './session.ts';
import type { SessionRegistry } from './session-registry.ts';

/** An MCP session as its user may see it. */
export interface AccountSession {
  /** Key to end it with; not the session id, which only the client may know. */
  key: string;
  clientId: string;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds; may lag behind by a minute. */
  usedAt: number;
}

/** Owner of the sessions: an account of an issuer. */
export type SessionAccount = Pick<AuthInfo, 'issuer' | 'subject'>;

/** The MCP sessions of whole accounts, for users and operators. */
export interface AccountSessions {
  /** Returns an account's sessions with all clients, last used first. */
  list(account: SessionAccount): Promise<AccountSession[]>;
  /** Ends a session with its streams and running calls; false if the account has none with this key. */
  end(account: SessionAccount, key: string): Promise<boolean>;
  /**
   * Ends an account's sessions with one client that were last used by one grant, and those without a known grant. Other
   * installations of the client have grants of their own, and continue.
   */
  endOfGrant(account: SessionAccount, app: { clientId: string; grantId: string }): Promise<void>;
}

/** Creates the view on the sessions of an endpoint by account (T-124). */
export function createAccountSessions(
  store: Pick<McpSessionStore, 'listBelow'>,
  registry: Pick<SessionRegistry, 'endByKey'>,
): AccountSessions {
  const sessionsOf = (account: SessionAccount): Promise<StoredSession[]> =>
    store.listBelow(accountKeyPrefix(account));

  return {
    async list(account) {
      return (await sessionsOf(account)).map(({ key, principal, createdAt, usedAt }) => ({
        key,
        clientId: clientOfPrincipal(principal),
        createdAt,
        usedAt,
      }));
    },
    async end(account, key) {
      const isTheirs = (await sessionsOf(account)).some((session) => session.key === key);
      if (isTheirs) await registry.endByKey(key);
      return isTheirs;
    },
    async endOfGrant(account, { clientId, grantId }) {
      const hash = hashGrant(grantId);
      const ofGrant = (await sessionsOf(account)).filter(
        ({ principal, grantHash }) =>
          clientOfPrincipal(principal) === clientId && (grantHash ?? hash) === hash,
      );
      await Promise.all(ofGrant.map(({ key }) => registry.endByKey(key)));
    },
  };
}
