import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Conversations, Listener, Sender } from '../protocol.ts';
import type { Message } from '../reading/frames.ts';
import { readAbilities } from '../sdk/client-abilities.ts';
import type { Answer } from '../sdk/participants.ts';
import { upstreamsOf } from './caller-upstreams.ts';
import { inputOfLink } from './link-needed.ts';
import { LinkWatch } from './link-watch.ts';
import { type MissingInput, missingInputOf } from './missing-input.ts';

/** The revision that has elicitation by URL, and the only one that has its error. */
const revisionWithUrls = '2025-11-25';

const urlElicitationRequired = -32042;

/** Returns true if an answer tells that something went wrong. */
function hasFailed({ result, error }: { result?: unknown; error?: unknown }): boolean {
  return error !== undefined || (result as { isError?: unknown } | undefined)?.isError === true;
}

/** Returns the input that the user must provide if a call failed for lack of it. */
export function missingOf(
  answer: { result?: unknown; error?: object | undefined },
  caller: AuthInfo | undefined,
): MissingInput | undefined {
  const { missing, access } = (caller && upstreamsOf(caller)) ?? {};
  const ofTool = missing && access && hasFailed(answer) ? inputOfLink(missing, access) : undefined;
  return missingInputOf(answer.error) ?? ofTool;
}

/** The listener of a conversation that asks its client to open URLs. */
class LinkAsker implements Listener {
  readonly #listener: Listener;
  readonly #watch: LinkWatch;
  readonly #callers = new Map<RequestId, AuthInfo>();
  /** True if the client can open URLs; known once the server has answered `initialize`. */
  canAsk = false;

  constructor(listener: Listener, logger: Logger) {
    this.#listener = listener;
    this.#watch = new LinkWatch((elicitationId) => {
      const method = 'notifications/elicitation/complete';
      listener.hear({ jsonrpc: '2.0', method, params: { elicitationId } });
    }, logger);
  }

  note({ id, method, params }: Message, { authInfo }: Sender): void {
    if (method === 'notifications/cancelled') this.#callers.delete(params?.requestId as RequestId);
    if (id !== undefined && method !== undefined && authInfo && upstreamsOf(authInfo))
      this.#callers.set(id, authInfo);
  }

  hear(message: Message, relatedTo?: RequestId): void {
    this.#listener.hear(message.method === undefined ? this.#asking(message) : message, relatedTo);
  }

  ended(): void {
    this.end();
    this.#listener.ended();
  }

  end(): void {
    this.#watch.endAll();
  }

  /** The answer, or in its place the error that asks for what was missing. */
  #asking(answer: Answer): Message {
    const { id } = answer;
    const missing = this.#missingFor(answer);
    if (!missing) return answer;
    const { url, message } = missing;
    const elicitations = [{ mode: 'url', elicitationId: this.#watch.begin(missing), url, message }];
    return {
      jsonrpc: '2.0',
      id,
      error: { code: urlElicitationRequired, message, data: { elicitations } },
    } as Message;
  }

  #missingFor(answer: Answer): MissingInput | undefined {
    const caller = answer.id === undefined ? undefined : this.#callers.get(answer.id);
    if (answer.id !== undefined) this.#callers.delete(answer.id);
    if (!this.canAsk) return undefined;
    return missingOf(answer, caller);
  }
}

/**
 * Has conversations ask their clients for what only their persons can give, such as what tools lack at upstreams: a call
 * that failed for it is answered with the error that names the URL to open, and the client is told when the person is done
 * there. Clients that cannot open URLs get the answer as it is, whose text has the URL.
 * @see MCP 2025-11-25 elicitation "URL Elicitation Required Error", "Completion Notifications for URL Mode" (C7-04)
 */
export function askForLinks(conversations: Conversations, logger: Logger): Conversations {
  return {
    async open(initialize, sender, listener) {
      if (!readAbilities(initialize.capabilities).elicitationUrl)
        return conversations.open(initialize, sender, listener);
      const asker = new LinkAsker(listener, logger);
      const opening = await conversations.open(initialize, sender, asker);
      if ('error' in opening) return opening;
      const { conversation, result } = opening;
      asker.canAsk = result.protocolVersion === revisionWithUrls;
      const { server } = conversation;
      return {
        result,
        conversation: {
          server,
          say(message, by) {
            if (asker.canAsk) asker.note(message, by);
            conversation.say(message, by);
          },
          end() {
            asker.end();
            return conversation.end();
          },
        },
      };
    },
    close: () => conversations.close(),
  };
}
