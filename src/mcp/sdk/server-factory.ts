import type { McpLike, ServerContext, ServerSource } from '../protocol.ts';

/** Makes an MCP server: for one session or request, or for all callers of an era. */
export type ServerFactory = (context: ServerContext) => McpLike | Promise<McpLike>;

/** Returns true if something is an MCP server, by what it can do: the SDK's of version 1 and 2 look alike. */
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

/**
 * Makes a server that was brought ready-made into a source.
 */
export function fromServer(server: McpLike): ServerSource & { sharing: 'single' } {
  return { sharing: 'single', create: () => server };
}

/**
 * Makes a factory into a source.
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
 * Checks what a factory gave.
 * @throws TypeError if it is no MCP server
 */
export function requireServer(value: unknown): McpLike {
  if (isServer(value)) return value;
  throw new TypeError(
    'The factory gave no MCP server: it has no connect() and close(). Return a McpServer or Server of the MCP SDK.',
  );
}

/**
 * Checks a server that is to serve one conversation only.
 * @throws TypeError if it is no MCP server; Error if another conversation uses it
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
 * Explains why a server that was brought ready-made does not connect.
 * @param error what its `connect` threw
 */
export function connectFailure(error: unknown): Error {
  if (!/already connected/i.test(String(error)))
    return error instanceof Error ? error : new Error(String(error));
  return new Error(
    'The MCP server is connected to another transport already. Bring one that is not connected, or a function that makes one.',
    { cause: error },
  );
}
