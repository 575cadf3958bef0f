import type { Change, Message } from '../protocol.ts';

const changeMethods = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]);

/**
 * Reads a message of a server as a change that clients can listen to.
 * @returns undefined if it is none
 * @see MCP 2026-07-28 "Subscriptions" (C5-01)
 */
export function changeOf({ method, params }: Message): Change | undefined {
  if (method === undefined || !changeMethods.has(method)) return undefined;
  // Everybody hears of it: what else one caller had the server say goes nowhere (T-218).
  if (method !== 'notifications/resources/updated') return { method };
  return { method, params: { uri: params?.uri } };
}

/** Limits a change of data from a server of one account to that account. A change of a list goes to everyone. */
export function narrowed({ method, params }: Change, account: string): Change {
  if (method !== 'notifications/resources/updated') return { method };
  return { method, account, ...(params ? { params } : {}) };
}

/**
 * Returns the notifications that the lists of a server may have changed, for the lists whose changes it declares.
 * @param capabilities of the server
 * @see MCP 2025-11-25 tools "List Changed Notification" (FA-44)
 */
export function changesOfLists(capabilities: unknown): Message[] {
  const offered = Object(capabilities) as Record<string, { listChanged?: unknown } | undefined>;
  return ['tools', 'prompts', 'resources']
    .filter((name) => offered[name]?.listChanged === true)
    .map((name) => ({ jsonrpc: '2.0', method: `notifications/${name}/list_changed` }));
}
