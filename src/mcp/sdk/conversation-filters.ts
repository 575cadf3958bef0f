import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import { loggable } from '../../observability/loggable.ts';
import type { Logger } from '../../observability/logger.ts';
import type {
  Conversation,
  Conversations,
  InitializeResult,
  Listener,
  Message,
  Sender,
} from '../protocol.ts';
import { changeOf } from '../reading/changes.ts';
import { isOfItsKind, type ServedMethods, withoutTask } from '../reading/methods.ts';
import type { FilterResult } from '../scopes/scope-gate.ts';
import { methodNotServed, resultNotServed } from './json-rpc-errors.ts';

/** A requested list. */
interface Asked {
  method: string;
  authInfo: AuthInfo;
}

/** A listener that filters the responses to list requests. */
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

  /** Returns the response as its caller may see it. */
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
 * Filters the lists in conversations of every transport: callers see the items for which they have the scopes.
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

/** Adds extensions of Gatehouse to the capabilities in a response to `initialize` or `server/discover`, and removes what is not served. */
export type DeclareExtensions = <Result extends { capabilities?: unknown }>(result: Result) => Result;

/**
 * Creates the function that declares the extensions which Gatehouse itself provides in front of a server. The server's
 * own declarations stay if they are served (T-202).
 * @param names identifiers of extensions
 * @see MCP "Extensions" (A13-01, A13-04, A13-11)
 */
export function createExtensions(
  names: readonly string[],
  served: Pick<ServedMethods, 'capabilities'>,
): DeclareExtensions {
  const inFront = Object.fromEntries(names.map((name) => [name, {}]));
  return (result) => {
    const given = Object(result.capabilities) as Record<string, unknown>;
    const capabilities = served.capabilities(given);
    if (names.length === 0)
      return capabilities === result.capabilities ? result : { ...result, capabilities };
    const said = Object.entries(Object(given.extensions) as object).filter(([name]) => names.includes(name));
    const extensions = { ...inFront, ...Object.fromEntries(said), ...Object(capabilities.extensions) };
    return { ...result, capabilities: { ...capabilities, extensions } };
  };
}

/** Declares extensions in the responses to `initialize` of conversations. */
export function declaringExtensions(conversations: Conversations, declare: DeclareExtensions): Conversations {
  /** A shared server returns the same object to every conversation. */
  const declared = new WeakMap<InitializeResult, InitializeResult>();
  return {
    async open(initialize, sender, listener) {
      const opening = await conversations.open(initialize, sender, listener);
      if ('error' in opening) return opening;
      const { conversation, result } = opening;
      const told = declared.get(result) ?? declare(result);
      declared.set(result, told);
      return { conversation, result: told };
    },
    close: () => conversations.close(),
  };
}

/** A message of a server, which may be a response. */
type Said = Message & { result?: Record<string, unknown> };

/**
 * Applies the table of served methods to conversations of every transport. A request of either side that is not served
 * gets the error -32601. Notifications, capabilities and results that are not served are dropped (FA-02, FA-13, T-201,
 * T-202).
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

/** Returns a change in the form that everybody may receive; undefined for any other message. */
function plainChange(message: Message): Message | undefined {
  const change = changeOf(message);
  return change && { jsonrpc: '2.0', ...change };
}
