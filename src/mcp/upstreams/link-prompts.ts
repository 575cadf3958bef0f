import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { declaredCapabilities, missingCapabilities } from '../modern/client-inputs.ts';
import {
  type Answer,
  type Call,
  type Caller,
  type Conversations,
  isRecord,
  type Listener,
  type Message,
  type RequestMessage,
  type Sender,
} from '../protocol.ts';
import { inputMethods } from '../reading/methods.ts';
import { readAbilities } from '../sdk/negotiation.ts';
import { type ResponseMessage, uniqueId } from '../sdk/participants.ts';
import { inputOfLink, type MissingInput, missingInputOf, upstreamsOf, withPatience } from './upstream.ts';

/** The revision that has elicitation by URL, and the only one that has its error. */
const revisionWithUrls = '2025-11-25';

const urlElicitationRequired = -32042;

/** Returns true for an error, or a result with `isError`. */
function hasFailed({ result, error }: { result?: unknown; error?: unknown }): boolean {
  return error !== undefined || (result as { isError?: unknown } | undefined)?.isError === true;
}

/** Returns the input that the user must provide if a call failed for lack of it. */
function missingOf(
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

  /** Returns the response, or the error that asks for the missing input. */
  #asking(answer: ResponseMessage): Message {
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

  #missingFor(answer: ResponseMessage): MissingInput | undefined {
    const caller = answer.id === undefined ? undefined : this.#callers.get(answer.id);
    if (answer.id !== undefined) this.#callers.delete(answer.id);
    if (!this.canAsk) return undefined;
    return missingOf(answer, caller);
  }
}

/**
 * Asks clients for input that only the user can provide, such as access to upstreams. A call that failed for lack of it
 * gets the error with the URL to open, and the client is notified when the user has finished there. Clients that cannot
 * open URLs get the response as it is, whose text has the URL.
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

/** Maximum number of watched inputs of a conversation. Beyond it, the oldest is forgotten. */
const maxWatched = 20;

/** Maximum time for linking, in milliseconds. */
const watchedMs = 600_000;

/** Interval of the checks whether the account is linked, in milliseconds: another process may have linked it. */
const defaultLookEveryMs = 1_000;

/** Input that one conversation waits for. */
export class LinkWatch {
  readonly #tell: (elicitationId: string) => void;
  readonly #logger: Logger;
  readonly #lookEveryMs: number;
  /** Elicitation ids and the controllers that stop their watch, by the key of the input. */
  readonly #open = new Map<string, { elicitationId: string; stop: AbortController }>();

  /** @param tell takes the id of a completed elicitation */
  constructor(tell: (elicitationId: string) => void, logger: Logger, lookEveryMs = defaultLookEveryMs) {
    this.#tell = tell;
    this.#logger = logger;
    this.#lookEveryMs = lookEveryMs;
  }

  /** Watches an input. @returns the id of its elicitation: the same one as long as the input is missing */
  begin({ key, isGiven }: Pick<MissingInput, 'key' | 'isGiven'>): string {
    const open = this.#open.get(key);
    if (open) return open.elicitationId;
    const [oldest] = this.#open.keys();
    if (this.#open.size >= maxWatched && oldest !== undefined) this.#end(oldest);
    const begun = { elicitationId: uniqueId(), stop: new AbortController() };
    this.#open.set(key, begun);
    this.#watch(isGiven, begun.stop.signal)
      .then((wasGiven) => {
        if (begun.stop.signal.aborted) return;
        this.#end(key);
        if (wasGiven) this.#tell(begun.elicitationId);
      })
      .catch((error: unknown) => {
        this.#end(key);
        this.#logger.warn({ err: error }, 'a client is not told that its person has given what was missing');
      });
    return begun.elicitationId;
  }

  /** Stops all watches. */
  endAll(): void {
    for (const key of [...this.#open.keys()]) this.#end(key);
  }

  async #watch(isGiven: () => Promise<boolean>, stopped: AbortSignal): Promise<boolean> {
    const endsMs = performance.now() + watchedMs;
    while (performance.now() < endsMs && !stopped.aborted) {
      await sleep(this.#lookEveryMs, undefined, { ref: false, signal: stopped }).catch(() => undefined);
      if (!stopped.aborted && (await isGiven())) return true;
    }
    return false;
  }

  #end(key: string): void {
    this.#open.get(key)?.stop.abort();
    this.#open.delete(key);
  }
}

/**
 * Maximum wait of a retried call for its user, who has just opened the page, in milliseconds. Clients wait a minute for a
 * response.
 */
const patienceMs = 30_000;

/** Prefix of the keys of requested input; the name of the missing input follows. */
const keyPrefix = 'gatehouse-';

/** The user's responses to the requests, by key. */
function responses({ params }: RequestMessage): [string, unknown][] {
  const given = params?.inputResponses;
  return isRecord(given) ? Object.entries(given).filter(([key]) => key.startsWith(keyPrefix)) : [];
}

/**
 * Lets a call wait for its user if it is the retry of one that asked to open a URL. In this revision the client says only
 * that the user agreed, not that the user has finished (C7-04).
 * @returns the caller to continue with
 */
export function awaitLinks({ request, caller }: Pick<Call, 'request' | 'caller'>): Caller {
  const agreed = responses(request).some(
    ([, response]) => isRecord(response) && response.action === 'accept',
  );
  return agreed ? { ...caller, authInfo: withPatience(caller.authInfo, patienceMs) } : caller;
}

/**
 * Asks the client for input of its user, such as access to an upstream, in place of the failure. A repeated request, and
 * a client that cannot open URLs, get the response as it is, whose text has the URL.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-01, C4-02)
 */
export function inputOfLinks(answer: Answer, call: Pick<Call, 'request' | 'caller'>): Answer {
  const { request, caller } = call;
  const missing = missingOf(answer, caller.authInfo);
  if (!missing || !inputMethods.has(request.method)) return answer;
  const key = `${keyPrefix}${missing.name}`;
  const params = { mode: 'url', url: missing.url, message: missing.message };
  const asked = { method: 'elicitation/create', params };
  const lacking = missingCapabilities(asked, declaredCapabilities(call));
  if (lacking || responses(request).some(([known]) => known === key)) return answer;
  const { _meta } = answer.result ?? {};
  return {
    status: 200,
    result: {
      resultType: 'input_required',
      inputRequests: { [key]: asked },
      ...(_meta === undefined ? undefined : { _meta }),
    },
  };
}
