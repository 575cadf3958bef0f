import type { Transport } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../oauth/auth-info.ts';

/** The least an MCP server is to us; `McpServer` and `Server` of the SDK, version 2 or 1, are it. */
export interface McpLike {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** For whom a server is made. */
export interface ServerContext {
  /** `legacy`: revisions up to 2025-11-25; `modern`: 2026-07-28. */
  era: 'legacy' | 'modern';
  /** Who opened the session, or sent the request. Absent where one server is made for all callers. */
  authInfo?: AuthInfo;
}

/**
 * Where MCP servers come from, and who shares one.
 * - `each`: every session, and every request without a session, has a server of its own.
 * - `principal`: every session has a server of its own, and the requests of one principal without a session share one.
 *   These are servers in other processes: they do not say for which call they send something.
 * - `shared`: one server an era answers all callers; who calls comes with each message.
 * - `single`: one server that was brought ready-made answers all callers; it cannot be made again.
 */
export interface ServerSource {
  sharing: 'each' | 'principal' | 'shared' | 'single';
  create(context: ServerContext): McpLike | Promise<McpLike>;
}
