import { randomUUID } from 'node:crypto';
import { parseExact } from '../../collections/exact-json.ts';
import type { StoredSession } from '../../storage/mcp-sessions.ts';
import type {
  Conversation,
  Conversations,
  InitializeParams,
  JsonRpcError,
  Listener,
  Sender,
} from '../protocol.ts';
import { changesOfLists } from '../reading/changes.ts';

/** A stored session that its server rejects after a restart. */
export class NotRestored extends Error {
  /** Key of the session in the storage. */
  readonly key: string;
  /** Reason, as the client sees it. */
  readonly error: JsonRpcError;

  constructor(key: string, error: JsonRpcError) {
    super(`An MCP session could not be brought back: ${error.message}`);
    this.key = key;
    this.error = error;
  }
}

/**
 * Starts the conversation of a session again after a restart, with the client's `initialize`, log level and
 * subscriptions. The responses of the server are dropped. The client is notified that lists have changed, because the
 * server may be another one (FA-44).
 * @throws NotRestored if the server rejects `initialize`
 */
export async function restoreConversation(
  conversations: Conversations,
  stored: StoredSession,
  listener: Listener,
  sender: Sender,
): Promise<Conversation> {
  const { value: initialize } = parseExact(stored.initialize);
  const opening = await conversations.open(initialize as InitializeParams, sender, listener);
  if ('error' in opening) throw new NotRestored(stored.key, opening.error);
  const { conversation, result } = opening;
  if (stored.isInitialized) conversation.say({ jsonrpc: '2.0', method: 'notifications/initialized' }, sender);

  const told = [
    ...(stored.logLevel === null ? [] : [{ method: 'logging/setLevel', params: { level: stored.logLevel } }]),
    ...stored.subscriptions.map((uri) => ({ method: 'resources/subscribe', params: { uri } })),
  ];
  for (const request of told) conversation.say({ jsonrpc: '2.0', id: randomUUID(), ...request }, sender);
  if (stored.isInitialized) for (const change of changesOfLists(result.capabilities)) listener.hear(change);
  return conversation;
}
