import { isScopeToken, scopeUnion } from '../../oauth/scope.ts';
import type { Logger } from '../../observability/logger.ts';
import { isRecord, type McpLike, type ServerSource } from '../protocol.ts';
import type { Operation } from '../reading/messages.ts';
import { isServer } from '../sdk/server-factory.ts';
import { foldedBeginnings, hrefOf } from './uri-spellings.ts';

/** Declarations of a server, and the table made of them on first use. */
interface Declared {
  scopes: Required<OperationScopes>;
  table?: RuleTable;
}

/** By server object, so that a declaration lives as long as its server. */
const declarations = new WeakMap<object, Declared>();

/**
 * Declares the scopes of a tool, prompt or resource beside its registration. Works for servers of the MCP SDK, version
 * 2 or 1; several declarations for one server add up.
 * @param server the server it was registered on
 * @returns the server
 * @throws TypeError if it is no server, where something else than tools, prompts and resources is named, and where a
 *   scope is not a `scope-token` (RFC 6749 section 3.3), so that none can break a challenge
 */
export function declareScopes<Server extends McpLike>(server: Server, declared: OperationScopes): Server {
  if (!isServer(server))
    throw new TypeError('declareScopes: give it the MCP server first, which has connect and close.');
  checkDeclared(declared);
  const before = declarations.get(server)?.scopes;
  const scopes = {
    tools: { ...before?.tools, ...declared.tools },
    prompts: { ...before?.prompts, ...declared.prompts },
    resources: { ...before?.resources, ...declared.resources },
  };
  declarations.set(server, { scopes });
  return server;
}

/** Checked at run time for callers in JavaScript: a misspelled rule would leave its tool without one. */
function checkDeclared(declared: unknown): void {
  if (!isRecord(declared)) throw new TypeError('declareScopes: say { tools, prompts, resources }.');
  for (const [kind, entries] of Object.entries(declared)) {
    if (!kinds.includes(kind))
      throw new TypeError(`declareScopes: there is no ${kind}; there are ${kinds.join(', ')}.`);
    if (entries === undefined) continue;
    if (!isRecord(entries)) throw new TypeError(`declareScopes: ${kind} must map names to lists of scopes.`);
    for (const [name, scopes] of Object.entries(entries)) {
      if (!Array.isArray(scopes))
        throw new TypeError(
          `declareScopes: ${kind}.${name} must be a list of scopes, as in ["${kind}:use"].`,
        );
      for (const scope of scopes)
        if (typeof scope !== 'string' || !isScopeToken(scope))
          throw new TypeError(`Not a scope: ${JSON.stringify(scope)}.`);
    }
  }
}

const kinds = ['tools', 'prompts', 'resources'];

/**
 * Returns every scope that was declared for a server, on the object itself or on the `Server` inside an `McpServer`.
 */
function scopesDeclaredFor(server: McpLike): string[] {
  const inner = innerServer(server);
  const all = [declarations.get(server), inner && declarations.get(inner)];
  const tables = all.flatMap((declared) => (declared ? Object.values(declared.scopes) : []));
  return [...new Set(tables.flatMap((table) => Object.values(table).flat()))];
}

/** Returns the scopes declared for a server, on the object itself or on the `Server` inside an `McpServer`. */
export function declaredScopes(server: McpLike): RuleTable | undefined {
  const outer = tableOf(declarations.get(server));
  const innermost = innerServer(server);
  const inner = innermost && tableOf(declarations.get(innermost));
  return outer && inner ? (...asked) => outer(...asked) ?? inner(...asked) : (outer ?? inner);
}

/** A server may have its scopes declared one by one: a table for each would be made of all before it. */
function tableOf(declared: Declared | undefined): RuleTable | undefined {
  if (!declared) return undefined;
  declared.table ??= createRuleTable(declared.scopes);
  return declared.table;
}

/** Returns true if scopes were declared for resources of a server. */
export function declaresResources(server: McpLike): boolean {
  const inner = innerServer(server);
  return [declarations.get(server), inner && declarations.get(inner)].some(
    (declared) => declared !== undefined && Object.keys(declared.scopes.resources).length > 0,
  );
}

function innerServer(server: McpLike): object | undefined {
  return 'server' in server && isRecord(server.server) ? server.server : undefined;
}

/**
 * Returns the scopes that `declareScopes` names for a server and that nobody can be granted.
 * @param known the scopes the server has
 */
export function unknownScopesOf(server: McpLike, known: readonly string[]): string[] {
  return scopesDeclaredFor(server).filter((scope) => !known.includes(scope));
}

/**
 * Warns once for each scope that a new server declares and no user can be granted.
 * @param known the scopes that can be granted
 */
export function warnOfUnknownScopes(
  source: ServerSource,
  known: readonly string[],
  logger: Pick<Logger, 'warn'>,
): ServerSource {
  const warned = new Set<string>();
  return {
    ...source,
    async create(context) {
      const server = await source.create(context);
      for (const scope of unknownScopesOf(server, known)) {
        if (warned.has(scope)) continue;
        warned.add(scope);
        logger.warn(
          { scope },
          'declareScopes names a scope that server.scopes does not have: nobody can be granted it, so nobody can use what needs it',
        );
      }
      return server;
    },
  };
}

/**
 * Looks up the scopes an operation needs; undefined if no rule names it.
 * @param isFolded true if the URI of a resource is folded; else it is written as URLs are
 */
export type RuleTable = (
  operation: Pick<Operation, 'kind' | 'name'>,
  isFolded?: boolean,
) => readonly string[] | undefined;

/**
 * Returns all scopes that an operation needs at a server, except by rules that the server itself evaluates; undefined if
 * its URI cannot be read within the bounds.
 */
export type NeededScopes = (operation: Operation, server?: McpLike) => readonly string[] | undefined;

/**
 * Creates a table of rules. It is a map, so `__proto__` is an ordinary name (T-137).
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
  /** Scope -> scopes that it includes: `{ 'notes:write': ['notes:read'] }` (A8-05). */
  implies?: Readonly<Record<string, readonly string[]>>;
  /** Content of lists of tools, prompts and resources: `all` items (default), or those whose scopes are `granted`. */
  lists?: 'all' | 'granted';
}
