import type { AuthInfo } from '../../oauth/auth-info.ts';
import { missingScopes } from '../../oauth/scope.ts';
import { type Operation, operationOn } from '../reading/operations.ts';
import { isRecord } from '../reading/record.ts';
import { toSdkAuthInfo } from '../sdk/caller.ts';
import type { McpLike } from '../sdk/server-source.ts';
import type { NeededScopes } from './rule-table.ts';
import { passesSynchronousRules } from './scope-challenge.ts';

/**
 * Returns the result of a method as its caller may see it.
 * @param server the one that answered; without it what it declares itself does not count
 */
export type FilterResult = (
  method: string,
  result: Record<string, unknown>,
  authInfo: AuthInfo,
  server?: McpLike,
) => Record<string, unknown>;

/** List methods: position of the list, kind of its entries, and naming member. */
const lists = new Map<string, { member: string; kind: 'tool' | 'prompt' | 'resource'; name: string }>([
  ['tools/list', { member: 'tools', kind: 'tool', name: 'name' }],
  ['prompts/list', { member: 'prompts', kind: 'prompt', name: 'name' }],
  ['resources/list', { member: 'resources', kind: 'resource', name: 'uri' }],
  ['resources/templates/list', { member: 'resourceTemplates', kind: 'resource', name: 'uriTemplate' }],
]);

/**
 * Creates the filter that removes from lists the entries that the caller lacks the scopes for. The cursor of a page stays, so
 * a page may be short. A filtered list is not for public caches. An asynchronous rule of the server hides nothing, as the
 * call itself is refused. Entries are hidden if their rule throws, if they have no name, and if their URI cannot be read
 * within the bounds.
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
      return passesSynchronousRules(server, operation.request, sdkAuthInfo);
    } catch {
      return false;
    }
  };
  return (method, result, authInfo, server) => {
    const list = lists.get(method);
    const entries = list && result[list.member];
    if (!list || !Array.isArray(entries)) return result;
    const needed = judge();
    const shown = entries.filter((entry: unknown) => {
      const name = isRecord(entry) ? entry[list.name] : undefined;
      return typeof name === 'string' && isGranted(needed, operationOn(list.kind, name), authInfo, server);
    });
    const cacheScope = result.cacheScope === 'public' ? { cacheScope: 'private' } : {};
    return { ...result, [list.member]: shown, ...cacheScope };
  };
}
