import { randomBytes } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { textLength } from '../http/node-reply.ts';
import {
  type Answer,
  type Call,
  type Conversation,
  type InitializeResult,
  isRecord,
  type JsonRpcError,
  type Listener,
  type Message,
  type RequestMessage,
} from '../protocol.ts';
import { inputMethods } from '../reading/methods.ts';
import { heldBytesExceeded } from '../sdk/json-rpc-errors.ts';
import { embeddedRequest, isInputRequest, missingFor, urlElicitations } from './client-inputs.ts';
import { progressTokenOf } from './envelope.ts';
import { serverGone } from './error-answers.ts';
import { modernError, modernResult } from './legacy-results.ts';

/** Time in which requests of a server are collected, in milliseconds: it may run in another process. */
const gatheringMs = 10;

/** Calls back if the access of a caller is revoked, not if the token expires. @returns stops watching */
export type WatchRevoked = (authInfo: AuthInfo, revoked: () => void) => () => void;

/** A message of a server, which may be a response. */
type Heard = Message & { result?: Record<string, unknown>; error?: JsonRpcError };

/**
 * One call of a client of 2026-07-28 in a conversation of an older revision. If the server sends its client a request,
 * the call returns `input_required` and waits. The retry continues the same call, so that nothing runs twice.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-06)
 */
export class BridgedCall implements Listener {
  /** The request in the form for the server. */
  readonly #request: RequestMessage;
  readonly #principal: string;
  readonly #parked: ParkedCalls<BridgedCall>;
  readonly #onOver: () => void;
  readonly #watch: WatchRevoked | undefined;
  /** The client's request that waits now; undefined while the call is parked. */
  #call: Call | undefined;
  #conversation: Conversation | undefined;
  #initialized: InitializeResult | undefined;
  /** Requests of the server without a response of the client, by key. */
  readonly #questions = new Map<string, RequestMessage>();
  #questionCount = 0;
  #isAsking = false;
  /** The response, if it came while no request waited. */
  #answer: Answer | undefined;
  #isOver = false;

  /**
   * @param onOver called once, when the call is over at the server
   * @param watch ends the call if the access of its client is revoked while it is parked
   */
  constructor(call: Call, parked: ParkedCalls<BridgedCall>, onOver: () => void, watch?: WatchRevoked) {
    this.#watch = watch;
    this.#onOver = onOver;
    this.#request = { ...call.request, params: olderParams(call.request.params) };
    this.#principal = principalKey(call.caller.authInfo);
    this.#parked = parked;
    this.#call = call;
  }

  /** Sends the request in a new conversation. */
  begin(conversation: Conversation, initialized: InitializeResult): void {
    this.#conversation = conversation;
    this.#initialized = initialized;
    if (this.#isOver || !this.#call) {
      void conversation.end();
      return;
    }
    const { caller } = this.#call;
    conversation.say({ jsonrpc: '2.0', method: 'notifications/initialized' }, caller);
    conversation.say(this.#request, caller);
  }

  /** Continues for a client that returned with input. */
  resume(call: Call): void {
    this.#call = call;
    const responses = call.request.params?.inputResponses;
    for (const [key, question] of this.#questions) {
      const response = isRecord(responses) && Object.hasOwn(responses, key) ? responses[key] : undefined;
      // A missing response is requested again (C4-04).
      if (!isRecord(response)) continue;
      this.#questions.delete(key);
      this.#say({ jsonrpc: '2.0', id: question.id, result: response } as Message, call);
    }
    if (this.#answer) this.finish(this.#answer);
    else if (this.#questions.size > 0) this.#ask();
  }

  hear(message: Heard, relatedTo?: RequestId): void {
    if (this.#isOver) return;
    if (message.method === undefined) this.#hearAnswer(message);
    else if (message.id !== undefined) this.#hearQuestion(message as RequestMessage);
    else if (relatedTo === undefined || relatedTo === this.#request.id) this.#hearNotification(message);
  }

  ended(): void {
    this.finish(serverGone);
  }

  /** Sends the response, now or when the client returns, and ends the conversation. */
  finish(answer: Answer): void {
    this.#end();
    const call = this.#call;
    this.#call = undefined;
    if (call) call.answer(answer);
    else this.#answer = textLength(answer.result) > maxParkedLength ? tooLargeToPark : answer;
  }

  /** Cancels the call at the server. Nothing more is sent for it (B5-14). */
  cancel(): void {
    const call = this.#call;
    this.#call = undefined;
    const cancelled = { method: 'notifications/cancelled', params: { requestId: this.#request.id } };
    if (call && !this.#isOver) this.#say({ jsonrpc: '2.0', ...cancelled }, call);
    this.#end();
  }

  #hearAnswer({ id, result, error }: Heard): void {
    if (id !== this.#request.id || !this.#initialized) return;
    const by = this.#conversation ? { by: this.#conversation.server } : {};
    if (error) this.finish(this.#errorAnswer(error));
    else if (result)
      this.finish({
        status: 200,
        ...by,
        result: modernResult(this.#request.method, result, this.#initialized),
      });
  }

  /** If the user must open URLs first, the call has ended and is sent again as a new one: no state is needed. */
  #errorAnswer(error: JsonRpcError): Answer {
    const elicitations = inputMethods.has(this.#request.method) ? urlElicitations(error) : undefined;
    if (!elicitations || !this.#call) return modernError(error, this.#request);
    const questions = new Map(elicitations.map((question, at) => [`input-${at + 1}`, question]));
    return missingFor(this.#call, questions.values()) ?? this.#inputRequired(questions, {});
  }

  #hearNotification(notification: Message): void {
    const call = this.#call;
    if (notification.method === 'notifications/message') call?.notify(notification);
    const progressToken = call && progressTokenOf(call.request);
    if (notification.method !== 'notifications/progress' || progressToken === undefined) return;
    // The retry may have chosen another token than the first request.
    call?.notify({ ...notification, params: { ...notification.params, progressToken } });
  }

  #hearQuestion(question: RequestMessage): void {
    if (question.method === 'ping') this.#reply(question, { result: {} });
    else if (!isInputRequest(question) || !inputMethods.has(this.#request.method))
      this.#reply(question, {
        error: { code: errorCodes.methodNotFound, message: 'The client cannot be asked this now.' },
      });
    else {
      this.#questions.set(`input-${++this.#questionCount}`, question);
      this.#ask();
    }
  }

  /** Requests that the server sends together go to the client together. */
  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    setTimeout(() => {
      this.#isAsking = false;
      if (this.#call && !this.#isOver && this.#questions.size > 0) this.#park(this.#call);
    }, gatheringMs);
  }

  #park(call: Call): void {
    const lacking = missingFor(call, this.#questions.values());
    const { authInfo } = call.caller;
    const watch =
      this.#watch && ((revoked: () => void) => this.#watch?.(authInfo, revoked) ?? (() => undefined));
    const requestState = lacking ? undefined : this.#parked.park(this, this.#principal, watch);
    if (requestState === undefined) {
      this.#refuse(lacking ?? tooManyParked);
      return;
    }
    this.#call = undefined;
    call.answer({ ...this.#inputRequired(this.#questions, { requestState }), isHeldHere: true });
  }

  #inputRequired(questions: ReadonlyMap<string, RequestMessage>, state: object): Answer {
    const asked = [...questions].map(([key, question]) => [key, embeddedRequest(question)]);
    const inputRequests = Object.fromEntries(asked);
    const _meta = { [SERVER_INFO_META_KEY]: this.#initialized?.serverInfo };
    return { status: 200, result: { resultType: 'input_required', inputRequests, ...state, _meta } };
  }

  #refuse(answer: Answer): void {
    const call = this.#call;
    this.cancel();
    call?.answer(answer);
  }

  #reply({ id }: RequestMessage, content: object): void {
    if (this.#call) this.#say({ jsonrpc: '2.0', id, ...content } as Message, this.#call);
  }

  #say(message: Message, { caller }: Call): void {
    this.#conversation?.say(message, caller);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    void this.#conversation?.end();
  }
}

/**
 * Members of `_meta` that only 2026-07-28 has. A server in another process that also speaks 2026-07-28 would serve a
 * request with them in that revision.
 */
const envelope: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
]);

/** The parameters of a request as older revisions have them. */
function olderParams(params: Message['params']): Record<string, unknown> {
  const { inputResponses, requestState, _meta: meta, ...others } = params ?? {};
  if (!isRecord(meta)) return others;
  const _meta = Object.fromEntries(Object.entries(meta).filter(([name]) => !envelope.has(name)));
  return Object.keys(_meta).length > 0 ? { ...others, _meta } : others;
}

/** Maximum length of a response that is kept for a returning client, in characters. */
const maxParkedLength = 1_000_000;

const tooLargeToPark: Answer = { status: 503, error: heldBytesExceeded };

const tooManyParked: Answer = {
  status: 429,
  error: {
    code: -32000,
    message: 'Too many calls of this client wait for input. Answer some of them first.',
  },
};

/** A call that waits for its client to return with input. */
export interface Parkable {
  /** Called if the client does not return in time. */
  cancel(): void;
}

interface Parked<Call> {
  call: Call;
  principal: string;
  timer: NodeJS.Timeout;
  unwatch: () => void;
}

/** Milliseconds that a call waits for its client; as long as its request state lasts. */
const waitMs = 600_000;

/** Calls that wait in memory, each under a name that cannot be guessed. */
export class ParkedCalls<Call extends Parkable> {
  readonly #parked = new Map<string, Parked<Call>>();
  readonly #counts = new Map<string, number>();
  readonly #maxPerPrincipal: number;

  constructor(maxPerPrincipal: number) {
    this.#maxPerPrincipal = maxPerPrincipal;
  }

  /**
   * Stores a waiting call.
   * @param principal see `principalKey`
   * @param watch calls back when the access of the caller is revoked, which cancels the call; returns what stops it
   * @returns its name; undefined if too many calls of the principal wait
   */
  park(call: Call, principal: string, watch?: (revoked: () => void) => () => void): string | undefined {
    const count = this.#counts.get(principal) ?? 0;
    if (count >= this.#maxPerPrincipal) return undefined;
    const name = randomBytes(16).toString('base64url');
    const giveUp = (): void => this.take(name, principal)?.cancel();
    const timer = setTimeout(giveUp, waitMs).unref();
    this.#parked.set(name, { call, principal, timer, unwatch: watch?.(giveUp) ?? (() => undefined) });
    this.#counts.set(principal, count + 1);
    return name;
  }

  /** Removes and returns a call, for its own principal only. */
  take(name: string, principal: string): Call | undefined {
    const parked = this.#parked.get(name);
    if (parked?.principal !== principal) return undefined;
    this.#parked.delete(name);
    clearTimeout(parked.timer);
    parked.unwatch();
    const left = (this.#counts.get(principal) ?? 0) - 1;
    if (left > 0) this.#counts.set(principal, left);
    else this.#counts.delete(principal);
    return parked.call;
  }

  /** Cancels all that wait. */
  cancelAll(): void {
    for (const [name, { principal }] of this.#parked) this.take(name, principal)?.cancel();
  }
}
