import type { RequestId } from '@modelcontextprotocol/server';
import type { Logger } from '../../observability/logger.ts';
import { loggable } from '../../observability/logger.ts';
import type { Conversation, Conversations, Listener, Sender } from '../protocol.ts';
import { changeOf } from '../reading/changes.ts';
import type { Message } from '../reading/frames.ts';
import { isOfItsKind, type ServedMethods, withoutTask } from '../reading/methods.ts';
import { methodNotServed, resultNotServed } from './json-rpc-errors.ts';

/** A message of a server, which may be an answer. */
type Said = Message & { result?: Record<string, unknown> };

/**
 * Puts the table of served methods around conversations, whatever transport they are for. A request of either side that
 * is not served is answered with -32601, and a notification that is not served goes nowhere; capabilities and results
 * of what is not served stay behind as well (FA-02, FA-13, T-201, T-202).
 */
export function guardConversations(
  conversations: Conversations,
  served: ServedMethods,
  logger: Pick<Logger, 'debug'>,
): Conversations {
  const note = (method: string, from: string): void =>
    logger.debug({ method: loggable(method), from }, 'a method that is not served was refused');
  const prepared = (message: Message): Message => (served.hasTasks ? message : withoutTask(message));

  return {
    async open(initialize, sender, listener) {
      let conversation: Conversation | undefined;
      const refuse = (id: RequestId, method: string): void => {
        const answer = { jsonrpc: '2.0', id, error: methodNotServed(method) } as Message;
        conversation?.say(answer, sender);
      };
      const guarded: Listener = {
        hear(message: Said, relatedTo) {
          const { id, method, result } = message;
          if (method === undefined) {
            const isKnown = result === undefined || served.isKnownResult(result, 'legacy');
            listener.hear(
              isKnown ? message : ({ jsonrpc: '2.0', id, error: resultNotServed } as Message),
              relatedTo,
            );
          } else if (served.passes(method, 'server', 'legacy') && isOfItsKind(message))
            listener.hear(plainChange(message) ?? prepared(message), relatedTo);
          else {
            note(method, 'server');
            if (id !== undefined) refuse(id, method);
          }
        },
        ended: () => listener.ended(),
      };
      const capabilities = served.capabilities(initialize.capabilities);
      const opening = await conversations.open({ ...initialize, capabilities }, sender, guarded);
      if ('error' in opening) return opening;
      const behind = opening.conversation;
      conversation = behind;
      const say = (message: Message, by: Sender): void => {
        const { id, method } = message;
        const isServed =
          method === undefined || (served.passes(method, 'client', 'legacy') && isOfItsKind(message));
        if (isServed) behind.say(prepared(message), by);
        else if (method !== undefined) {
          note(method, 'client');
          if (id !== undefined)
            listener.hear({ jsonrpc: '2.0', id, error: methodNotServed(method) } as Message);
        }
      };
      return {
        conversation: { server: behind.server, say, end: () => behind.end() },
        result: opening.result,
      };
    },
    close: () => conversations.close(),
  };
}

/** A change as everybody may hear it; undefined for any other message. */
function plainChange(message: Message): Message | undefined {
  const change = changeOf(message);
  return change && { jsonrpc: '2.0', ...change };
}
