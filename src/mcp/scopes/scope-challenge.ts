import type { AuthInfo, ScopeChallenge, ScopeChallengeHandler } from '@modelcontextprotocol/server';
import { type Awaitable, mapAwaitable } from '../../collections/awaitable.ts';
import { isScopeToken } from '../../oauth/scope.ts';
import type { RequestMessage } from '../checks/messages.ts';
import type { McpLike } from '../server-source.ts';

/**
 * Asks a server whether a request lacks scopes by the rules registered with its tools, prompts and resources
 * (`scopeChallenge` of the MCP SDK, version 2). Other servers have no such rules.
 * @param authInfo who calls, in the SDK's form
 * @returns the challenge, undefined where nothing is missing; a promise of it where a rule of the server gives one
 * @throws TypeError where the server asks for something that is no scope; what its rules throw
 */
export function findScopeChallenge(
  server: McpLike,
  request: RequestMessage,
  authInfo: AuthInfo,
): Awaitable<ScopeChallenge | undefined> {
  if (!hasScopeRules(server)) return undefined;
  const challenge = server.resolveScopeChallenge({ request, authInfo });
  return mapAwaitable(challenge, checkChallenge);
}

/** Says whether a server has rules of its own that can be asked. */
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
