import { scopeUnion } from '../../oauth/scope.ts';
import type { McpLike } from '../protocol.ts';
import type { Operation } from '../reading/messages.ts';
import { foldedBeginnings, hrefOf } from './uri-spellings.ts';

/**
 * Looks up the scopes an operation needs; undefined if no rule names it.
 * @param isFolded whether the URI of a resource is folded; else it is written as URLs are
 */
export type RuleTable = (
  operation: Pick<Operation, 'kind' | 'name'>,
  isFolded?: boolean,
) => readonly string[] | undefined;

/**
 * Returns all scopes an operation needs at a server, by all rules but those that the server must be asked for; undefined if
 * its URI cannot be read within the bounds.
 */
export type NeededScopes = (operation: Operation, server?: McpLike) => readonly string[] | undefined;

/**
 * Makes rules into a table. Names are looked up as names, so that `__proto__` is one nobody has (T-137).
 */
export function createRuleTable({ tools = {}, prompts = {}, resources = {} }: OperationScopes): RuleTable {
  const byName = { tool: new Map(Object.entries(tools)), prompt: new Map(Object.entries(prompts)) };
  const written = longestBeginning(scopesOf(resources, writtenBeginnings));
  const folded = longestBeginning(scopesOf(resources, foldedBeginnings));
  return ({ kind, name }, isFolded = false) => {
    if (kind === 'method') return undefined;
    if (kind !== 'resource') return byName[kind].get(name);
    return isFolded ? folded(name) : written(name);
  };
}

function scopesOf(
  resources: NonNullable<OperationScopes['resources']>,
  spellings: (beginning: string) => string[],
): Map<string, readonly string[]> {
  const beginnings = new Map<string, readonly string[]>();
  for (const [beginning, scopes] of Object.entries(resources))
    for (const spelling of spellings(beginning))
      beginnings.set(spelling, scopeUnion(beginnings.get(spelling) ?? [], scopes));
  return beginnings;
}

/** A beginning as it is written and as URLs are: `file:///My Files/` is `file:///My%20Files/`, too. */
function writtenBeginnings(beginning: string): string[] {
  // With something behind it, as a URL parser cuts off blanks and dots at an end.
  const href = hrefOf(`${beginning}x`);
  return [...new Set([beginning, href.endsWith('x') ? href.slice(0, -1) : beginning])];
}

interface Entry {
  beginning: string;
  scopes: readonly string[];
  /** The next shorter beginning of this one. */
  shorter: Entry | undefined;
}

/** Finds the longest beginning of a text in a number of steps that grows with the logarithm of their count. */
function longestBeginning(
  beginnings: ReadonlyMap<string, readonly string[]>,
): (text: string) => readonly string[] | undefined {
  const sorted: Entry[] = [];
  for (const [beginning, scopes] of [...beginnings].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let shorter = sorted.at(-1);
    while (shorter && !beginning.startsWith(shorter.beginning)) shorter = shorter.shorter;
    sorted.push({ beginning, scopes, shorter });
  }
  return (text) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as Entry).beginning <= text) low = middle + 1;
      else high = middle;
    }
    let found = sorted[low - 1];
    while (found && !text.startsWith(found.beginning)) found = found.shorter;
    return found?.scopes;
  };
}

/** The scopes that tools, prompts and resources need. */
export interface OperationScopes {
  /** Tool name -> all scopes a call of it needs. */
  tools?: Readonly<Record<string, readonly string[]>>;
  /** Prompt name -> all scopes it needs. */
  prompts?: Readonly<Record<string, readonly string[]>>;
  /** Beginning of a resource's URI -> all scopes needed to read it; the longest beginning decides. */
  resources?: Readonly<Record<string, readonly string[]>>;
}

/** Rules for the scopes of calls and the visibility of list items. */
export interface ScopeRules extends OperationScopes {
  /** Scopes of every tool, prompt and resource that is not named, here or at its declaration; none by default. */
  otherwise?: readonly string[];
  /** Scope -> scopes that who holds it holds, too: `{ 'notes:write': ['notes:read'] }` (A8-05). */
  implies?: Readonly<Record<string, readonly string[]>>;
  /** Content of lists of tools, prompts and resources: `all` items (default), or those whose scopes are `granted`. */
  lists?: 'all' | 'granted';
}
