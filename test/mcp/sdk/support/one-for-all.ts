import type { Conversations } from '../../../../src/mcp/protocol.ts';
import { makeV1, makeV2, nothingSeen, type Seen } from './servers.ts';
import { startConversations } from './talk.ts';

/** Both versions of the SDK, each with what makes the test server. */
export const versions = [
  ['v2', makeV2],
  ['v1', makeV1],
] as const;

/** Starts conversations with one server for all of them; what it saw is told beside. */
export function startOneForAll(make: (seen: Seen) => unknown): { seen: Seen; conversations: Conversations } {
  const seen = nothingSeen();
  return { seen, conversations: startConversations('shared', () => make(seen)) };
}
