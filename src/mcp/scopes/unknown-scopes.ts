import type { Logger } from '../../observability/logger.ts';
import type { McpLike, ServerSource } from '../sdk/server-source.ts';
import { scopesDeclaredFor } from './declared-scopes.ts';

/**
 * Returns the scopes that `declareScopes` names for a server and that nobody can be granted.
 * @param known the scopes the server has
 */
export function unknownScopesOf(server: McpLike, known: readonly string[]): string[] {
  return scopesDeclaredFor(server).filter((scope) => !known.includes(scope));
}

/**
 * Has the servers of a source looked at when they are made: a scope that is declared for one, and that nobody can be
 * granted, is warned of, once.
 * @param known the scopes the servers have
 */
export function warnOfUnknownScopes(
  source: ServerSource,
  known: readonly string[],
  logger: Pick<Logger, 'warn'>,
): ServerSource {
  const warned = new Set<string>();
  return {
    ...source,
    async create(context) {
      const server = await source.create(context);
      for (const scope of unknownScopesOf(server, known)) {
        if (warned.has(scope)) continue;
        warned.add(scope);
        logger.warn(
          { scope },
          'declareScopes names a scope that server.scopes does not have: nobody can be granted it, so nobody can use what needs it',
        );
      }
      return server;
    },
  };
}
