import type { Transport } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../oauth/auth-info.ts';

/** The least an MCP server is to us; `McpServer` and `Server` of the SDK, version 2 or 1, are it. */
export interface McpLike {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** For whom a server is made. */
export interface ServerContext {
  /** `legacy`: a session of a revision up to 2025-11-25; `modern`: one request of 2026-07-28. */
  era: 'legacy' | 'modern';
  /** Who opened the session, or sent the request. */
  authInfo: AuthInfo;
}

/** Makes a new MCP server for a session or a request; never gives the same one twice. */
export type McpServerSource = (context: ServerContext) => McpLike | Promise<McpLike>;
