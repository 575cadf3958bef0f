import type { McpLike } from '../server-source.ts';
import type { Operation } from './operations.ts';
import type { OperationScopes } from './scope-rules.ts';

/** Looks up the scopes an operation needs; undefined where no rule names it. */
export type RuleTable = (operation: Operation) => readonly string[] | undefined;

/** Gives all scopes an operation needs at a server, by all rules there are but those the server must be asked for. */
export type NeededScopes = (operation: Operation, server?: McpLike) => readonly string[];

/**
 * Makes rules into a table. Names are looked up as names, so that `__proto__` is one nobody has (T-137).
 */
export function createRuleTable({ tools = {}, prompts = {}, resources = {} }: OperationScopes): RuleTable {
  const byName = { tool: new Map(Object.entries(tools)), prompt: new Map(Object.entries(prompts)) };
  const byBeginning = Object.entries(resources).sort(([a], [b]) => b.length - a.length);
  return ({ kind, name }) => {
    if (kind !== 'resource') return byName[kind].get(name);
    if (byBeginning.length === 0) return undefined;
    const uri = normalizeUri(name);
    return byBeginning.find(([beginning]) => uri.startsWith(beginning))?.[1];
  };
}

/** The form in which servers look a resource up: `NOTES://x` and ` notes://x` are `notes://x` to a URL parser. */
function normalizeUri(uri: string): string {
  return URL.parse(uri)?.href ?? uri;
}
