import type { Conversations } from './conversation.ts';
import { type ConversationsOptions, createDedicatedConversations } from './dedicated.ts';
import { createSharedConversations } from './one-server.ts';

/** Creates conversations with servers of a source: each with its own server, or all with the same one. */
export function createConversations(options: ConversationsOptions): Conversations {
  const { sharing } = options.source;
  return sharing === 'each' ? createDedicatedConversations(options) : createSharedConversations(options);
}
