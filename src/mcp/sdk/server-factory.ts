import type { McpLike, ServerContext, ServerSource } from './server-source.ts';

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
