import { isScopeToken } from '../../oauth/scope.ts';
import type { Logger } from '../../observability/logger.ts';
import { isRecord, type McpLike, type ServerSource } from '../protocol.ts';
import { isServer } from '../sdk/server-factory.ts';
import { createRuleTable, type OperationScopes, type RuleTable } from './rule-table.ts';

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

/** Plain JavaScript has no types that say so, and a rule that is misspelled would leave its tool open. */
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
export function scopesDeclaredFor(server: McpLike): string[] {
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
 * Has the servers of a source looked at when they are made: a scope that is declared for one, and that nobody can be
 * granted, is warned of, once.
 * @param known the scopes the servers have
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
