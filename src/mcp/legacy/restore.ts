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

/** A session that stands in the storage, and whose server does not begin it any more. */
export class NotRestored extends Error {
  /** Of the session in the storage. */
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
 * Begins the conversation of a session anew after a restart, and tells the server again what the client had told it:
 * `initialize` with its params, its log level, its subscriptions. What the server answers to that was answered before,
 * and is not heard. The client hears that lists have changed: the server may be another than before (FA-44).
 * @throws NotRestored if the server does not begin it any more
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
