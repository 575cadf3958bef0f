import { scopeUnion } from '../../oauth/scope.ts';
import { hrefOf, leadsElsewhere, uriSpellings } from '../checks/uri-spellings.ts';
import type { McpLike } from '../server-source.ts';
import type { Operation } from './operations.ts';
import type { OperationScopes, ScopeRules } from './scope-rules.ts';

/** Looks up the scopes an operation needs; undefined where no rule names it. */
export type RuleTable = (operation: Operation) => readonly string[] | undefined;

/** Gives all scopes an operation needs at a server, by all rules there are but those the server must be asked for. */
export type NeededScopes = (operation: Operation, server?: McpLike) => readonly string[];

/**
 * Makes rules into a table. Names are looked up as names, so that `__proto__` is one nobody has (T-137). A resource needs
 * what it needs in every way a server may read its URI, as `NOTES://x` and `notes://%78` are `notes://x` to many; one that
 * leads elsewhere than it says needs whatever any resource does (T-110, T-149).
 */
export function createRuleTable(rules: OperationScopes & Pick<ScopeRules, 'otherwise'>): RuleTable {
  const { tools = {}, prompts = {}, resources = {}, otherwise = [] } = rules;
  const byName = { tool: new Map(Object.entries(tools)), prompt: new Map(Object.entries(prompts)) };
  const byBeginning = Object.entries(resources)
    .flatMap(([beginning, scopes]) =>
      [...new Set([beginning, hrefOf(beginning)])].map((written) => ({ written, scopes })),
    )
    .sort((a, b) => b.written.length - a.written.length);
  const ofAny = scopeUnion(otherwise, ...Object.values(resources));
  const ofSpelling = (uri: string) => byBeginning.find(({ written }) => uri.startsWith(written))?.scopes;

  return ({ kind, name }) => {
    if (kind !== 'resource') return byName[kind].get(name);
    if (byBeginning.length === 0) return undefined;
    if (leadsElsewhere(name)) return ofAny;
    const found = uriSpellings(name).map(ofSpelling);
    if (found.every((scopes) => scopes === undefined)) return undefined;
    return scopeUnion(...found.map((scopes) => scopes ?? otherwise));
  };
}
