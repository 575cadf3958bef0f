import type { Conversations } from '../protocol.ts';
import { type ConversationsOptions, createDedicatedConversations } from './dedicated-conversations.ts';
import { createSharedConversations } from './one-server.ts';
import { createPrincipalConversations } from './principal.ts';

/** Creates conversations with servers of a source: each with its own server, or all with the same one. Those that are
 * over with a request share servers of `principal` by {@link createPrincipalConversations}. */
export function createConversations(options: ConversationsOptions): Conversations {
  const { sharing } = options.source;
  if (sharing === 'account') return createPrincipalConversations(options);
  return sharing === 'each' || sharing === 'principal'
    ? createDedicatedConversations(options)
    : createSharedConversations(options);
}
