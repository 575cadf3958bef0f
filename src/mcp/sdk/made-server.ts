import { isServer } from './server-factory.ts';
import type { McpLike } from './server-source.ts';

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
