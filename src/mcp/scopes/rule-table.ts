import { scopeUnion } from '../../oauth/scope.ts';
import { hrefOf } from '../checks/uri-spellings.ts';
import type { Operation } from '../reading/operations.ts';
import type { McpLike } from '../server-source.ts';
import type { OperationScopes } from './scope-rules.ts';

/** Looks up the scopes an operation needs; undefined where no rule names it. A URI is written as URLs are. */
export type RuleTable = (operation: Operation) => readonly string[] | undefined;

/** Gives all scopes an operation needs at a server, by all rules there are but those the server must be asked for. */
export type NeededScopes = (operation: Operation, server?: McpLike) => readonly string[];

/**
 * Makes rules into a table. Names are looked up as names, so that `__proto__` is one nobody has (T-137).
 */
export function createRuleTable({ tools = {}, prompts = {}, resources = {} }: OperationScopes): RuleTable {
  const byName = { tool: new Map(Object.entries(tools)), prompt: new Map(Object.entries(prompts)) };
  const byBeginning = [...beginningsOf(resources)].sort(([a], [b]) => b.length - a.length);
  return ({ kind, name }) => {
    if (kind === 'method') return undefined;
    if (kind !== 'resource') return byName[kind].get(name);
    return byBeginning.find(([beginning]) => name.startsWith(beginning))?.[1];
  };
}

/** The beginnings that rules name, as they are written and as URLs are: `file:///My Files/` is `file:///My%20Files/`, too. */
function beginningsOf(resources: NonNullable<OperationScopes['resources']>): Map<string, readonly string[]> {
  const beginnings = new Map<string, readonly string[]>();
  for (const [beginning, scopes] of Object.entries(resources)) {
    // With something behind it, as a URL parser cuts off blanks and dots at an end.
    const href = hrefOf(`${beginning}x`);
    for (const written of new Set([beginning, href.endsWith('x') ? href.slice(0, -1) : beginning]))
      beginnings.set(written, scopeUnion(beginnings.get(written) ?? [], scopes));
  }
  return beginnings;
}
