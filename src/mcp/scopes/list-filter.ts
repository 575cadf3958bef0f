import type { AuthInfo } from '../../oauth/auth-info.ts';
import { missingScopes } from '../../oauth/scope.ts';
import { toSdkAuthInfo } from '../caller.ts';
import type { McpLike } from '../server-source.ts';
import { type Operation, operationOn } from './operations.ts';
import type { NeededScopes } from './rule-table.ts';
import { findScopeChallenge } from './scope-challenge.ts';

/**
 * Gives the result of a method as its caller may see it.
 * @param server the one that answered; without it what it declares itself does not count
 */
export type FilterResult = (
  method: string,
  result: Record<string, unknown>,
  authInfo: AuthInfo,
  server?: McpLike,
) => Record<string, unknown>;

/** Method -> where its list stands, what its entries are, and which member names them. */
const lists = new Map<string, { member: string; kind: Operation['kind']; name: string }>([
  ['tools/list', { member: 'tools', kind: 'tool', name: 'name' }],
  ['prompts/list', { member: 'prompts', kind: 'prompt', name: 'name' }],
  ['resources/list', { member: 'resources', kind: 'resource', name: 'uri' }],
  ['resources/templates/list', { member: 'resourceTemplates', kind: 'resource', name: 'uriTemplate' }],
]);

/**
 * Creates the filter that leaves in lists what the caller's scopes suffice for. A cursor stays, so a page may be short;
 * and what was filtered for one caller is no longer for public caches. A server's rule that takes time to decide hides
 * nothing, as the call itself is refused; one that throws hides its entry, and so does a URI that cannot be read within the bounds.
 * @param judge begins a list
 */
export function createListFilter(judge: () => NeededScopes): FilterResult {
  const isGranted = (
    needed: NeededScopes,
    operation: Operation,
    authInfo: AuthInfo,
    server?: McpLike,
  ): boolean => {
    const scopes = needed(operation, server);
    if (!scopes || missingScopes(authInfo.scopes, scopes).length > 0) return false;
    if (!server) return true;
    try {
      const sdkAuthInfo = toSdkAuthInfo(authInfo);
      const challenge = findScopeChallenge(server, operation.request, sdkAuthInfo);
      if (!(challenge instanceof Promise)) return challenge === undefined;
      challenge.catch(() => undefined);
      return true;
    } catch {
      return false;
    }
  };
  return (method, result, authInfo, server) => {
    const list = lists.get(method);
    const entries = list && result[list.member];
    if (!list || !Array.isArray(entries)) return result;
    const needed = judge();
    const shown = entries.filter((entry: Record<string, unknown>) =>
      isGranted(needed, operationOn(list.kind, String(entry[list.name])), authInfo, server),
    );
    const cacheScope = result.cacheScope === 'public' ? { cacheScope: 'private' } : {};
    return { ...result, [list.member]: shown, ...cacheScope };
  };
}
