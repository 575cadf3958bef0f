import type { SealedBox } from '../../crypto/sealed-box.ts';
import { routeOfPrincipal } from '../../oauth/auth-info.ts';
import type { Storage } from '../../storage/storage.ts';
import { createBrowserLogins } from '../account/browser-logins.ts';
import { findAccount } from './accounts.ts';
import { AdministrationRefused } from './administration-refused.ts';
import type { OfWhom } from './grants.ts';

/** A login in a browser, or a session of an MCP client. */
export interface ListedSession {
  kind: 'browser' | 'mcp';
  /** Names it to end it; nobody can use it for anything else. */
  id: string;
  /** The account, or the client that acts for itself. */
  subject: string;
  email?: string;
  clientId?: string;
  /** Path of the route it is at, below the public URL; of MCP sessions at one alone. */
  route?: string;
  /** Time of its start, epoch seconds. */
  since: number;
  /** Epoch seconds; of MCP sessions alone. */
  usedAt?: number;
  /** Name of the upstream a login came through, if it came through one. */
  upstream?: string;
}

const kind = 'Session';

/** Stands before ids, which may begin with a hyphen: no command line takes them for an option. */
const prefix = 'session_';

/**
 * Operations on sessions: logins in browsers, and sessions of MCP clients.
 * @param now epoch seconds
 */
export function administerSessions(
  storage: Pick<Storage, 'accounts' | 'artifacts' | 'mcpSessions' | 'upstreams'>,
  box: SealedBox,
  now: () => number,
) {
  const { accounts, artifacts, mcpSessions } = storage;
  const browsers = createBrowserLogins(storage, box, now);

  return {
    /**
     * Returns the sessions there are: logins in browsers by account, then those of MCP clients, last used first.
     * @throws AdministrationRefused if there is no such account
     */
    async list({ email, clientId }: OfWhom = {}): Promise<ListedSession[]> {
      const all = await accounts.list();
      const emails = new Map(all.map((account) => [account.id, account.email]));
      const wanted = email === undefined ? undefined : (await findAccount(accounts, email)).email;
      const found: ListedSession[] = [];
      for (const account of clientId === undefined ? all : [])
        if (wanted === undefined || account.email === wanted)
          for (const { id, loggedInAt: since, upstream } of await browsers.list(account.id))
            found.push({
              kind: 'browser',
              id: `${prefix}${id}`,
              subject: account.id,
              email: account.email,
              since,
              ...(upstream === undefined ? undefined : { upstream }),
            });
      for (const { key, principal, createdAt, usedAt } of await mcpSessions.list()) {
        const [, subject = '', client = ''] = JSON.parse(principal) as string[];
        const owner = emails.get(subject);
        if ((wanted !== undefined && owner !== wanted) || (clientId !== undefined && client !== clientId))
          continue;
        const ofPerson = owner === undefined ? undefined : { email: owner };
        const route = routeOfPrincipal(principal);
        found.push({
          kind: 'mcp',
          id: `${prefix}${key}`,
          subject,
          ...ofPerson,
          clientId: client,
          ...(route !== '' && { route }),
          since: createdAt,
          usedAt,
        });
      }
      return found;
    },
    /**
     * Ends a session: a browser has to log in anew, an MCP client to begin anew. Tokens are not touched.
     * @returns whose it was: a browser's, or that of an MCP client
     * @throws AdministrationRefused if there is none
     */
    async end(name: string): Promise<ListedSession['kind']> {
      const id = name.replace(prefix, '');
      const removed = await artifacts.commit([{ type: 'remove', kind, id, mustExist: true }]);
      if (removed.committed) return 'browser';
      if (await mcpSessions.end(id)) return 'mcp';
      throw new AdministrationRefused(
        'not_found',
        'There is no session with this id. The list of sessions has their ids.',
      );
    },
  };
}
