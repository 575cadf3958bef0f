import type { Conversations } from './conversation.ts';
import { type ConversationsOptions, createDedicatedConversations } from './dedicated.ts';
import { createSharedConversations } from './one-server.ts';

/** Creates conversations with servers of a source: each with its own server, or all with the same one. Those that are
 * over with a request share servers of `principal` by {@link createPrincipalConversations}. */
export function createConversations(options: ConversationsOptions): Conversations {
  const { sharing } = options.source;
  return sharing === 'each' || sharing === 'principal'
    ? createDedicatedConversations(options)
    : createSharedConversations(options);
}
