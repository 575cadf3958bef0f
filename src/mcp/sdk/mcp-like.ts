import type { Transport } from '@modelcontextprotocol/server';

/** The least an MCP server is to us; `McpServer` and `Server` of the SDK, version 2 or 1, are it. */
export interface McpLike {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}
