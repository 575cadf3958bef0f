import type { ScopeChallenge } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { scopeUnion } from '../../oauth/scope.ts';
import { toSdkAuthInfo } from '../caller.ts';
import { maxNameLength } from '../checks/messages.ts';
import { hrefOf, uriTargets } from '../checks/uri-spellings.ts';
import type { Messages } from '../reading/messages.ts';
import { createServedMethods, type ServedMethods } from '../reading/methods.ts';
import type { Operation } from '../reading/operations.ts';
import type { Refusal } from '../refusal.ts';
import type { McpLike } from '../server-source.ts';
import { declaredScopes } from './declared-scopes.ts';
import { createScopeHierarchy } from './implied-scopes.ts';
import { refuseForScopes } from './insufficient-scope.ts';
import { createListFilter, type FilterResult } from './list-filter.ts';
import { createRuleTable, type NeededScopes } from './rule-table.ts';
import { findScopeChallenge, hasScopeRules } from './scope-challenge.ts';
import type { ScopeRules } from './scope-rules.ts';

/** The gate in front of tools, prompts and resources. */
export interface ScopeGate {
  /** Gives the caller with the scopes theirs include, too. Comes once, before anything else looks at the caller. */
  effective(authInfo: AuthInfo): AuthInfo;
  /**
   * Judges messages before a server gets any of them: by the rules, and by what the server declares itself. The
   * refusal names all scopes the refused messages need, held ones included, in one go (A8-04, T-102).
   * @param server the one that will answer; without it only the rules count
   * @throws what the server's own rules throw; nothing of the messages may reach it then
   */
  check(
    messages: Messages,
    authInfo: AuthInfo,
    server?: McpLike,
  ): Refusal | undefined | Promise<Refusal | undefined>;
  /**
   * Gives all scopes an operation needs, by the rules and by what the server declares itself.
   * @param caller for whom the server's own rules are asked; whatever scopes it has do not count
   * @throws what the server's own rules throw
   */
  neededBy(operation: Operation, caller: AuthInfo, server?: McpLike): Promise<readonly string[]>;
  /** Takes out of a list what the caller may not use, where the rules say so. */
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

  const neededAsNamed: NeededScopes = (operation, server) => {
    if (operation.kind === 'method') {
      const own = served.scopesOf(operation.name) ?? [];
      return own.length > 0 ? own : otherwise;
    }
    const byRule = table(operation);
    const beside = server && declaredScopes(server)?.(operation);
    return byRule && beside ? scopeUnion(byRule, beside) : (byRule ?? beside ?? otherwise);
  };
  /** A resource needs what everything does to which its URI may lead (T-110). */
  const needed: NeededScopes = (operation, server) => {
    const { kind, name } = operation;
    if (kind !== 'resource') return neededAsNamed(operation, server);
    // Where it is to be listened to or completed; no request may name one that long.
    if (name.length > maxNameLength) {
      const asNamed = neededAsNamed({ ...operation, name: hrefOf(name) }, server);
      return scopeUnion(otherwise, ...Object.values(rules.resources ?? {}), asNamed);
    }
    const targets = uriTargets(name);
    return scopeUnion(...targets.map((target) => neededAsNamed({ ...operation, name: target }, server)));
  };
  const lacking = (operations: readonly Operation[], authInfo: AuthInfo, server?: McpLike): string[] => {
    const refused: (readonly string[])[] = [];
    for (const operation of operations) {
      const scopes = needed(operation, server);
      if (!scopes.every((scope) => authInfo.scopes.includes(scope))) refused.push(scopes);
    }
    return refused.length === 0 ? [] : scopeUnion(...refused);
  };

  return {
    effective(authInfo) {
      const scopes = hierarchy(authInfo.scopes);
      return scopes === authInfo.scopes ? authInfo : { ...authInfo, scopes };
    },
    check(messages, authInfo, server) {
      const { operations } = messages;
      if (operations.length === 0) return undefined;
      const scopes = lacking(operations, authInfo, server);
      const conclude = (answers: readonly (ScopeChallenge | undefined)[]): Refusal | undefined => {
        if (scopes.length === 0 && answers.every((answer) => answer === undefined)) return undefined;
        const challenges = answers.filter((answer) => answer !== undefined);
        const all = scopeUnion(scopes, ...challenges.map((challenge) => challenge.scopes));
        const description = challenges.find(({ errorDescription }) => errorDescription)?.errorDescription;
        const isBound = authInfo.keyThumbprint !== undefined;
        return refuseForScopes({ scopes: all, description, resourceMetadataUrl, isBound }, messages);
      };
      if (!server || !hasScopeRules(server)) return conclude([]);
      const sdkAuthInfo = toSdkAuthInfo(authInfo);
      const answers = operations.map(({ request }) => findScopeChallenge(server, request, sdkAuthInfo));
      return answers.some((answer) => answer instanceof Promise)
        ? Promise.all(answers).then(conclude)
        : conclude(answers as (ScopeChallenge | undefined)[]);
    },
    async neededBy(operation, caller, server) {
      const scopes = needed(operation, server);
      if (!server) return scopes;
      const nobody = toSdkAuthInfo({ ...caller, scopes: [] });
      const challenge = await findScopeChallenge(server, operation.request, nobody);
      return challenge ? scopeUnion(scopes, challenge.scopes) : scopes;
    },
    filterResult: lists === 'granted' ? createListFilter(needed) : (_method, result) => result,
  };
}
