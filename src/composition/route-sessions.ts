import { routeOfPrincipal } from '../oauth/auth-info.ts';
import type { McpSessionStore, StoredSession } from '../storage/mcp-sessions.ts';

/**
 * Gives the sessions of one route out of those of all: to it, others are none (T-158, T-162). The route stands behind
 * the principal in the storage; sessions of the public URL itself have none.
 * @param path path of the route below the public URL; empty for none
 */
export function sessionsOfRoute(store: McpSessionStore, path: string): McpSessionStore {
  if (path === '') return { ...store, ...ownSessions(store, '', (principal) => principal) };
  const suffix = `,${JSON.stringify(path)}]`;
  return { ...store, ...ownSessions(store, path, (principal) => `${principal.slice(0, -1)}${suffix}`) };
}

/** @param place adds the route to a principal */
function ownSessions(
  store: McpSessionStore,
  path: string,
  place: (principal: string) => string,
): Pick<McpSessionStore, 'open' | 'find' | 'listOf' | 'listBelow'> {
  const isOwn = ({ principal }: StoredSession): boolean => routeOfPrincipal(principal) === path;
  const plain = (session: StoredSession): StoredSession => {
    const principal = JSON.stringify((JSON.parse(session.principal) as string[]).slice(0, 3));
    return { ...session, principal };
  };
  return {
    open: (session, caps) => store.open({ ...session, principal: place(session.principal) }, caps),
    async find(key) {
      const session = await store.find(key);
      return session && isOwn(session) ? plain(session) : undefined;
    },
    listOf: (principal) => store.listOf(place(principal)),
    listBelow: async (prefix) => (await store.listBelow(prefix)).filter(isOwn).map(plain),
  };
}
