import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Conversation, Conversations, Listener, Sender } from '../protocol.ts';
import type { Message } from '../reading/frames.ts';
import type { FilterResult } from '../scopes/list-filter.ts';

/** A list that was asked for. */
interface Asked {
  method: string;
  authInfo: AuthInfo;
}

/** The listener of a conversation that knows which answers are lists. */
class ListReader implements Listener {
  server: Conversation['server'] | undefined;
  readonly #listener: Listener;
  readonly #filterResult: FilterResult;
  readonly #asked = new Map<RequestId, Asked>();

  constructor(listener: Listener, filterResult: FilterResult) {
    this.#listener = listener;
    this.#filterResult = filterResult;
  }

  note({ id, method, params }: Message, { authInfo }: Sender): void {
    if (method === 'notifications/cancelled') this.#asked.delete(params?.requestId as RequestId);
    if (id !== undefined && authInfo && method?.endsWith('/list')) this.#asked.set(id, { method, authInfo });
  }

  hear(message: Message, relatedTo?: RequestId): void {
    this.#listener.hear(message.method === undefined ? this.#shown(message) : message, relatedTo);
  }

  ended(): void {
    this.#listener.ended();
  }

  /** The answer as who asked may see it. */
  #shown(message: Message & { result?: Record<string, unknown> }): Message {
    const asked = message.id === undefined ? undefined : this.#asked.get(message.id);
    if (message.id === undefined || !asked) return message;
    this.#asked.delete(message.id);
    const { result } = message;
    if (!result) return message;
    const shown = this.#filterResult(asked.method, result, asked.authInfo, this.server);
    return { ...message, result: shown } as Message;
  }
}

/**
 * Puts the filter of lists into conversations, whatever transport they are for: who asks for a list sees what their
 * scopes suffice for.
 */
export function filterLists(conversations: Conversations, filterResult: FilterResult): Conversations {
  return {
    async open(initialize, sender, listener) {
      const reader = new ListReader(listener, filterResult);
      const opening = await conversations.open(initialize, sender, reader);
      if ('error' in opening) return opening;
      const { conversation, result } = opening;
      reader.server = conversation.server;
      const say = (message: Message, by: Sender): void => {
        reader.note(message, by);
        conversation.say(message, by);
      };
      return { conversation: { server: conversation.server, say, end: () => conversation.end() }, result };
    },
    close: () => conversations.close(),
  };
}
