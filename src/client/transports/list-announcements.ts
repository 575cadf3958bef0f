import type { JSONRPCNotification } from '@modelcontextprotocol/client';

/** Lists that may be other than before in a new session. */
const lists = ['tools', 'prompts', 'resources'];

/**
 * What a client is told of a session that took the place of another: each list it can hear of may have changed.
 * @param capabilities of the server
 * @see MCP server features "List Changed Notification"
 */
export function announceLists(capabilities: unknown): JSONRPCNotification[] {
  const offered = Object(capabilities) as Record<string, { listChanged?: boolean } | undefined>;
  return lists
    .filter((name) => offered[name]?.listChanged)
    .map((name) => ({ jsonrpc: '2.0', method: `notifications/${name}/list_changed` }));
}
