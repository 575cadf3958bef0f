import { principalKey } from '../../oauth/auth-info.ts';
import type { Backend, Caller, McpLike } from '../protocol.ts';
import { readToolList } from './internal-call.ts';

/** Finds the input schemas of a server's tools. */
export interface SchemaLookup {
  /** Returns the input schema of a tool: the same object until it changes. Undefined for an unknown tool. */
  find(tool: string, caller: Caller): Promise<unknown>;
  /** Discards the list: the next look-up reads it again. */
  forget(): void;
}

/** Servers that provide schemas without a list request, such as the SDK's `McpServer`. */
interface TellsSchemas {
  toolInputSchemaJson(name: string): unknown;
}

/**
 * Creates the look-up for one server: from the server object, or else from one `tools/list`, kept until the list changes.
 * @param begin see {@link Backend.begin}
 */
export function createSchemaLookup(server: McpLike, begin: Backend['begin']): SchemaLookup {
  if (!tellsSchemas(server)) return createListedSchemas(begin);
  return { find: async (tool) => server.toolInputSchemaJson(tool), forget: () => {} };
}

/**
 * Creates the look-up in the list of tools, which is read on first use, and again if that failed.
 * @param begin see {@link Backend.begin}
 */
export function createListedSchemas(begin: Backend['begin']): SchemaLookup {
  let reading: Promise<ListedSchemas> | undefined;
  return {
    async find(tool, caller) {
      reading ??= readSchemas(begin, caller);
      const current = reading;
      const { schemas, isWhole } = await current;
      if (!isWhole && reading === current) reading = undefined;
      return schemas.get(tool);
    },
    forget() {
      reading = undefined;
    },
  };
}

/** Result of a list of tools. */
interface ListedSchemas {
  schemas: Map<unknown, unknown>;
  /** True if the server answered for every page. */
  isWhole: boolean;
}

function tellsSchemas(server: McpLike): server is McpLike & TellsSchemas {
  return 'toolInputSchemaJson' in server && typeof server.toolInputSchemaJson === 'function';
}

async function readSchemas(begin: Backend['begin'], caller: Caller): Promise<ListedSchemas> {
  const { tools, isWhole } = await readToolList(begin, caller);
  return { schemas: new Map(tools.map(({ name, inputSchema }) => [name, inputSchema])), isWhole };
}

/** Lifetime of a list, in milliseconds: an old schema rejects no call for longer. */
const lifeMs = 10_000;

/** Maximum number of kept lists. */
const maxCallers = 1000;

/**
 * Creates the look-up for servers that may not report changes of their tools: the list of each caller, read again after
 * ten seconds.
 * @param begin see {@link Backend.begin}
 */
export function createRecentSchemas(begin: Backend['begin']): SchemaLookup {
  const recent = new Map<string, { schemas: SchemaLookup; until: number }>();

  const schemasOf = ({ authInfo }: Caller): SchemaLookup => {
    const key = JSON.stringify([principalKey(authInfo), authInfo.scopes]);
    const known = recent.get(key);
    if (known && known.until > performance.now()) return known.schemas;
    const schemas = createListedSchemas(begin);
    recent.delete(key);
    recent.set(key, { schemas, until: performance.now() + lifeMs });
    const [oldest] = recent.keys();
    if (recent.size > maxCallers && oldest !== undefined) recent.delete(oldest);
    return schemas;
  };
  return {
    find: (tool, caller) => schemasOf(caller).find(tool, caller),
    forget: () => recent.clear(),
  };
}
