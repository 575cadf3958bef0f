import type { Conversations, JsonRpcError } from '../protocol.ts';
import { allCapabilities } from './client-abilities.ts';
import type { ConversationsOptions } from './dedicated-conversations.ts';
import { connectFailure, requireServer } from './made-server.ts';
import { SharedConversation } from './shared-conversation.ts';
import { SharedServer } from './shared-server.ts';

/** Parts of the conversations with one server. */
export interface SharedConversationsOptions extends ConversationsOptions {
  /** Client capabilities declared to the server; all by default. */
  capabilities?: Record<string, unknown>;
}

/**
 * Creates conversations that all go to one server. It is made, connected and initialized when the first one begins,
 * and made again after it closed; one that was brought ready-made cannot be made again.
 */
export function createSharedConversations(options: SharedConversationsOptions): Conversations {
  const { source, logger, capabilities = allCapabilities } = options;
  let starting: Promise<SharedServer | { error: JsonRpcError }> | undefined;
  let wasStarted = false;

  const start = async (): Promise<SharedServer | { error: JsonRpcError }> => {
    if (wasStarted && source.sharing === 'single')
      throw new Error(
        'The MCP server was closed, and it cannot be made again. Bring a function that makes it.',
      );
    const made = requireServer(await source.create({ era: 'legacy' }));
    const shared = new SharedServer(made, { capabilities, logger, source });
    const error = await shared.start().catch(async (failure: unknown) => {
      if (source.sharing === 'single') throw connectFailure(failure);
      await shared.close();
      throw failure;
    });
    wasStarted = true;
    if (!error) return shared;
    await shared.close();
    return { error };
  };

  const running = async (): Promise<SharedServer | { error: JsonRpcError }> => {
    starting ??= start();
    const attempt = starting;
    try {
      const started = await attempt;
      if (started instanceof SharedServer && !started.line.isClosed) return started;
      if (starting === attempt) starting = undefined;
      return started instanceof SharedServer ? running() : started;
    } catch (error) {
      if (starting === attempt) starting = undefined;
      throw error;
    }
  };

  return {
    async open(initialize, _sender, listener) {
      const shared = await running();
      if (!(shared instanceof SharedServer)) return shared;
      const conversation = new SharedConversation(shared, initialize, listener);
      shared.conversations.set(conversation.sessionId, conversation);
      return { conversation, result: shared.resultFor(initialize.protocolVersion) };
    },
    async close() {
      const shared = await starting?.catch(() => undefined);
      starting = undefined;
      if (shared instanceof SharedServer) await shared.close();
    },
  };
}
