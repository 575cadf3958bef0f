import type { AuthInfo, ScopeChallenge, ScopeChallengeHandler } from '@modelcontextprotocol/server';
import { isScopeToken } from '../../oauth/scope.ts';
import type { RequestMessage } from '../reading/frames.ts';
import type { McpLike } from '../sdk/server-source.ts';

/**
 * Asks a server whether a request lacks scopes by the rules registered with its tools, prompts and resources
 * (`scopeChallenge` of the MCP SDK, version 2). Other servers have no such rules.
 * @param authInfo the caller, in the SDK's form
 * @returns the challenge; undefined if no scope is missing
 * @throws TypeError if the server asks for something that is not a scope; errors of its rules
 */
export async function findScopeChallenge(
  server: McpLike,
  request: RequestMessage,
  authInfo: AuthInfo,
): Promise<ScopeChallenge | undefined> {
  if (!hasScopeRules(server)) return undefined;
  return checkChallenge(await server.resolveScopeChallenge({ request, authInfo }));
}

/**
 * Returns true if a synchronous rule of the server lets a request pass. A rule that returns a promise passes here,
 * because a list is filtered synchronously; the call itself is refused by {@link findScopeChallenge}.
 * @throws as {@link findScopeChallenge}
 */
export function passesSynchronousRules(
  server: McpLike,
  request: RequestMessage,
  authInfo: AuthInfo,
): boolean {
  if (!hasScopeRules(server)) return true;
  const challenge = server.resolveScopeChallenge({ request, authInfo });
  if (challenge === undefined) return true;
  if (!('then' in challenge)) return checkChallenge(challenge) === undefined;
  challenge.then(undefined, () => undefined);
  return true;
}

/** Returns true if a server has rules of its own that can be asked. */
export function hasScopeRules(
  server: McpLike,
): server is McpLike & { resolveScopeChallenge: ScopeChallengeHandler } {
  return 'resolveScopeChallenge' in server && typeof server.resolveScopeChallenge === 'function';
}

function checkChallenge(challenge: ScopeChallenge | undefined): ScopeChallenge | undefined {
  if (challenge === undefined) return undefined;
  const scopes: unknown = challenge.scopes;
  const areScopes =
    Array.isArray(scopes) &&
    scopes.length > 0 &&
    scopes.every((scope) => typeof scope === 'string' && isScopeToken(scope));
  if (!areScopes)
    throw new TypeError('A scope challenge of the MCP server names no scopes, or illegal ones.');
  return challenge;
}
