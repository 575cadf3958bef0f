import type { McpLike, ServerContext, ServerSource } from '../protocol.ts';

/** Makes an MCP server: for one session or request, or for all callers of an era. */
export type ServerFactory = (context: ServerContext) => McpLike | Promise<McpLike>;

/** Type guard for MCP servers of version 1 and 2 of the SDK. It checks the methods, not the class. */
export function isServer(value: unknown): value is McpLike {
  return (
    typeof value === 'object' &&
    value !== null &&
    'connect' in value &&
    typeof value.connect === 'function' &&
    'close' in value &&
    typeof value.close === 'function'
  );
}

/** Makes a source of a ready-made server. */
export function fromServer(server: McpLike): ServerSource & { sharing: 'single' } {
  return { sharing: 'single', create: () => server };
}

/**
 * Makes a source of a factory.
 * @param sharing `each`: called for every session, and every request without one; `shared`: called for an era, without
 *   the caller, because its server serves everybody
 * @returns a source whose `create` throws TypeError if the factory returns no server, or under `each` the same twice
 */
export function fromFactory<Sharing extends 'each' | 'shared'>(
  factory: ServerFactory,
  sharing: Sharing,
): ServerSource & { sharing: Sharing } {
  const given = new WeakSet<McpLike>();
  return {
    sharing,
    async create({ era, authInfo }) {
      const server: unknown = await factory(
        sharing === 'shared' || authInfo === undefined ? { era } : { era, authInfo },
      );
      if (!isServer(server))
        throw new TypeError('The function that makes the MCP server returned none: return an McpServer.');
      if (sharing === 'each' && given.has(server))
        throw new TypeError(
          'The function that makes the MCP server returned the same one twice, which would mix up its callers: ' +
            "make a new one each time, or say sharing: 'shared'.",
        );
      given.add(server);
      return server;
    },
  };
}

const made = new WeakSet<object>();

/**
 * Checks the result of a factory.
 * @throws TypeError if it is not an MCP server
 */
export function requireServer(value: unknown): McpLike {
  if (isServer(value)) return value;
  throw new TypeError(
    'The factory gave no MCP server: it has no connect() and close(). Return a McpServer or Server of the MCP SDK.',
  );
}

/**
 * Checks the result of a factory whose servers serve one conversation each.
 * @throws TypeError if it is not an MCP server; Error if another conversation uses it
 */
export function requireNewServer(value: unknown): McpLike {
  const server = requireServer(value);
  if (made.has(server))
    throw new Error(
      'The factory gave the same MCP server twice. Make a new one each time, or bring the server itself.',
    );
  made.add(server);
  return server;
}

/**
 * Returns the error for a ready-made server that does not connect.
 * @param error the error of its `connect`
 */
export function connectFailure(error: unknown): Error {
  if (!/already connected/i.test(String(error)))
    return error instanceof Error ? error : new Error(String(error));
  return new Error(
    'The MCP server is connected to another transport already. Bring one that is not connected, or a function that makes one.',
    { cause: error },
  );
}
