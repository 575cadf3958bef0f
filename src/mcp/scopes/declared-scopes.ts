import { isScopeToken } from '../../oauth/scope.ts';
import type { McpLike } from '../server-source.ts';
import { createRuleTable, type RuleTable } from './rule-table.ts';
import type { OperationScopes } from './scope-rules.ts';

/** What was declared for a server, and the table made of it. */
interface Declared {
  scopes: Required<OperationScopes>;
  table: RuleTable;
}

/** By server object, so that a declaration lives as long as its server. */
const declarations = new WeakMap<object, Declared>();

/**
 * Says, beside a tool, prompt or resource, which scopes it needs. Works for servers of the MCP SDK, version 2 or 1;
 * several declarations for one server add up.
 * @param server the server it was registered on
 * @returns the server
 * @throws TypeError where a scope is not a `scope-token` (RFC 6749 section 3.3), so that none can break a challenge
 */
export function declareScopes<Server extends McpLike>(server: Server, declared: OperationScopes): Server {
  for (const scope of Object.values(declared).flatMap((entries) => Object.values(entries).flat())) {
    if (typeof scope !== 'string' || !isScopeToken(scope))
      throw new TypeError(`Not a scope: ${JSON.stringify(scope)}.`);
  }
  const before = declarations.get(server)?.scopes;
  const scopes = {
    tools: { ...before?.tools, ...declared.tools },
    prompts: { ...before?.prompts, ...declared.prompts },
    resources: { ...before?.resources, ...declared.resources },
  };
  declarations.set(server, { scopes, table: createRuleTable(scopes) });
  return server;
}

/**
 * Gives the scopes declared for a server, on the object itself or on the `Server` inside an `McpServer`.
 */
export function declaredScopes(server: McpLike): RuleTable | undefined {
  const outer = declarations.get(server)?.table;
  const inner =
    'server' in server && isObject(server.server) ? declarations.get(server.server)?.table : undefined;
  return outer && inner ? (operation) => outer(operation) ?? inner(operation) : (outer ?? inner);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
