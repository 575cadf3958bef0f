import type { ScopeChallenge } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { scopeUnion } from '../../oauth/scope.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Messages } from '../reading/messages.ts';
import { createServedMethods, type ServedMethods } from '../reading/methods.ts';
import type { Operation } from '../reading/operations.ts';
import { toSdkAuthInfo } from '../sdk/caller.ts';
import type { McpLike } from '../sdk/server-source.ts';
import { declaredScopes, declaresResources } from './declared-scopes.ts';
import { createScopeHierarchy } from './implied-scopes.ts';
import { refuseForScopes } from './insufficient-scope.ts';
import { createListFilter, type FilterResult } from './list-filter.ts';
import { createRuleTable, type NeededScopes } from './rule-table.ts';
import { findScopeChallenge, hasScopeRules } from './scope-challenge.ts';
import type { ScopeRules } from './scope-rules.ts';
import { createUriReader, type UriReader } from './uri-spellings.ts';

/** The gate in front of tools, prompts and resources. */
export interface ScopeGate {
  /** Returns the caller with the scopes theirs include, too. Comes once, before anything else looks at the caller. */
  effective(authInfo: AuthInfo): AuthInfo;
  /**
   * Judges messages before a server gets any of them: by the rules, and by what the server declares itself. The
   * refusal names all scopes the refused messages need, held ones included, in one go (A8-04, T-102). A URI that cannot be
   * read within the bounds is refused, if there are rules for resources (T-204).
   * @param server the one that will answer; without it only the rules count
   * @throws what the server's own rules throw; nothing of the messages may reach it then
   */
  check(messages: Messages, authInfo: AuthInfo, server?: McpLike): Promise<Refusal | undefined>;
  /**
   * Returns all scopes an operation needs, by the rules and by what the server declares itself.
   * @param caller for whom the server's own rules are asked; whatever scopes it has do not count
   * @throws what the server's own rules throw; RangeError for a URI that cannot be read within the bounds
   */
  neededBy(operation: Operation, caller: AuthInfo, server?: McpLike): Promise<readonly string[]>;
  /** Filters the items of a list that the caller may not use, if the rules say so. */
  filterResult: FilterResult;
}

/**
 * Creates the gate in front of tools, prompts and resources.
 * @param resourceMetadataUrl stands in the challenge
 * @param served says what methods need that were opened by name; by default none was
 * @see MCP authorization "Scope Challenge Handling"; RFC 6750 section 3.1
 */
export function createScopeGate(
  rules: ScopeRules,
  resourceMetadataUrl: string,
  served: Pick<ServedMethods, 'scopesOf'> = createServedMethods(),
): ScopeGate {
  const { otherwise = [], implies = {}, lists = 'all' } = rules;
  const table = createRuleTable(rules);
  const hierarchy = createScopeHierarchy(implies);

  const neededAsNamed = (
    operation: Pick<Operation, 'kind' | 'name'>,
    server?: McpLike,
    isFolded?: boolean,
  ): readonly string[] => {
    if (operation.kind === 'method') {
      const own = served.scopesOf(operation.name) ?? [];
      return own.length > 0 ? own : otherwise;
    }
    const byRule = table(operation, isFolded);
    const beside = server && declaredScopes(server)?.(operation, isFolded);
    return byRule && beside ? scopeUnion(byRule, beside) : (byRule ?? beside ?? otherwise);
  };
  const hasOwnRules = Object.keys(rules.resources ?? {}).length > 0;
  const hasResourceRules = (server?: McpLike): boolean =>
    hasOwnRules || (server !== undefined && declaresResources(server));
  /** A resource needs what everything does to which its URI may lead (T-110, T-212). */
  const neededWith =
    (readUri: UriReader): NeededScopes =>
    (operation, server) => {
      const { kind, name } = operation;
      if (kind !== 'resource') return neededAsNamed(operation, server);
      if (!hasResourceRules(server)) return otherwise;
      const reading = readUri(name);
      if (!reading) return undefined;
      const written = neededAsNamed({ kind, name: reading.href }, server);
      const folded = reading.folded.map((text) => neededAsNamed({ kind, name: text }, server, true));
      return scopeUnion(written, ...folded);
    };
  const lacking = (
    operations: readonly Operation[],
    authInfo: AuthInfo,
    server?: McpLike,
  ): string[] | undefined => {
    const needed = neededWith(createUriReader('message'));
    const refused: (readonly string[])[] = [];
    for (const operation of operations) {
      const scopes = needed(operation, server);
      if (!scopes) return undefined;
      if (!scopes.every((scope) => authInfo.scopes.includes(scope))) refused.push(scopes);
    }
    return refused.length === 0 ? [] : scopeUnion(...refused);
  };

  return {
    effective(authInfo) {
      const scopes = hierarchy(authInfo.scopes);
      return scopes === authInfo.scopes ? authInfo : { ...authInfo, scopes };
    },
    async check(messages, authInfo, server) {
      const { operations } = messages;
      if (operations.length === 0) return undefined;
      const scopes = lacking(operations, authInfo, server);
      if (!scopes) return refuseUnreadable(messages);
      const challenges = await challengesOf(operations, authInfo, server);
      if (scopes.length === 0 && challenges.length === 0) return undefined;
      const all = scopeUnion(scopes, ...challenges.map((challenge) => challenge.scopes));
      const description = challenges.find(({ errorDescription }) => errorDescription)?.errorDescription;
      const isBound = authInfo.keyThumbprint !== undefined;
      return refuseForScopes({ scopes: all, description, resourceMetadataUrl, isBound }, messages);
    },
    async neededBy(operation, caller, server) {
      const scopes = neededWith(createUriReader('message'))(operation, server);
      if (!scopes) throw new RangeError('The URI cannot be read within the bounds.');
      if (!server) return scopes;
      const nobody = toSdkAuthInfo({ ...caller, scopes: [] });
      const challenge = await findScopeChallenge(server, operation.request, nobody);
      return challenge ? scopeUnion(scopes, challenge.scopes) : scopes;
    },
    filterResult:
      lists === 'granted'
        ? createListFilter(() => neededWith(createUriReader('list')))
        : (_method, result) => result,
  };
}

/** Returns the challenges of the server's own rules to a caller's operations. */
async function challengesOf(
  operations: readonly Operation[],
  authInfo: AuthInfo,
  server?: McpLike,
): Promise<ScopeChallenge[]> {
  if (!server || !hasScopeRules(server)) return [];
  const caller = toSdkAuthInfo(authInfo);
  const asked = operations.map(({ request }) => findScopeChallenge(server, request, caller));
  return (await Promise.all(asked)).filter((challenge) => challenge !== undefined);
}

function refuseUnreadable({ isBatch, requests: [first] }: Messages): Refusal {
  return { reason: 'uri_unreadable', ...(first && !isBatch && { id: first.id }) };
}
