import { DEFAULT_NEGOTIATED_PROTOCOL_VERSION, type RequestId } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import { headerOf } from '../http/dispatch.ts';
import { type AccessWatch, type Exchange, type Posted, type Serve, toWebRequest } from '../http/exchange.ts';
import { type CallLimit, Deadlines } from '../http/limits.ts';
import { closing, isRefusal, type Refusal, tooManyCalls } from '../http/refusal.ts';
import {
  type Conversation,
  type Conversations,
  type InitializeParams,
  type JsonRpcError,
  legacyRevisions,
  type Message,
  revisionWithBatches,
  type Sender,
} from '../protocol.ts';
import { type Messages, readInitialize } from '../reading/messages.ts';
import type { ScopeGate } from '../scopes/scope-gate.ts';
import { callTimedOut, heldBytesError } from '../sdk/json-rpc-errors.ts';
import { CollectedAnswers, errorAnswer, hasRepeatedId } from './collected-answers.ts';

/** Options of a transport without sessions: this one, and Rest. */
export interface StatelessTransportOptions extends Omit<StatelessCallsOptions, 'timeoutMs'> {
  /** The endpoint's public URL. */
  url: URL;
  /** Longest wait for the answers to one POST, in milliseconds; here a minute by default, as the SDK's clients wait. */
  timeoutMs?: number;
}

const defaultTimeoutMs = 60_000;

const onlyPost: Refusal = { reason: 'method_not_allowed', headers: { Allow: 'POST' } };

/**
 * Creates streamable HTTP of the revisions up to 2025-11-25 without sessions, for operators who want no state:
 * `initialize` is answered without `Mcp-Session-Id`, every POST is answered with JSON, GET and DELETE are not served.
 * @see MCP 2025-11-25 transports "Streamable HTTP" (B3-03, B3-07, B3-10, B3-13, B3-14, B3-17)
 */
export function createStatelessTransport(options: StatelessTransportOptions): Serve {
  const answer = createStatelessCalls({ ...options, timeoutMs: options.timeoutMs ?? defaultTimeoutMs });

  return async (exchange, posted) => {
    if (!posted) return onlyPost;
    const protocolVersion = revisionOf(exchange);
    if (typeof protocolVersion !== 'string') return protocolVersion;
    const { messages } = posted;
    if (messages.isBatch && protocolVersion !== revisionWithBatches)
      return { reason: 'batch_not_in_this_revision' };
    const refusal = checkStatelessPost(posted);
    if (refusal) return refusal;

    const { reply } = exchange;
    const onGone = reply.onClose.bind(reply);
    const sender = senderOf(exchange, options.url);
    const park = reply.park.bind(reply);
    const answers = await answer({ messages, protocolVersion, sender, onGone, park, calls: exchange.calls });
    if (isRefusal(answers)) return answers;
    const told = exchange.calls ? await exchange.calls.answerAll(answers) : answers;
    if (reply.isClosed) return undefined;
    if (told.length === 0) reply.empty(202);
    else reply.json(200, messages.isBatch ? told : told[0]);
    return undefined;
  };
}

/**
 * Reads the revision of a request that belongs to no session.
 * @returns what `MCP-Protocol-Version` names; without it 2025-03-26, the newest that did not send it (B3-17)
 */
export function revisionOf({ headers }: Exchange): string | Refusal {
  const header = headerOf(headers, 'mcp-protocol-version');
  const named = header === undefined ? DEFAULT_NEGOTIATED_PROTOCOL_VERSION : String(header).trim();
  if (legacyRevisions.includes(named)) return named;
  return {
    reason: 'protocol_version_unknown',
    data: { supported: legacyRevisions, requested: named.slice(0, 100) },
  };
}

/** Checks what must be right in a body whatever the revision: a whole `initialize`, ids that differ (T-142). */
export function checkStatelessPost({ messages: { isBatch, requests } }: Posted): Refusal | undefined {
  const [first] = requests;
  if (first?.method === 'initialize' && !readInitialize(first))
    return { reason: 'initialize_incomplete', ...(isBatch ? {} : { id: first.id }) };
  return hasRepeatedId(requests) ? { reason: 'request_id_in_use' } : undefined;
}

/** Returns the sender of an exchange's messages; the request itself is built when a tool reads it. */
export function senderOf(exchange: Exchange, url: URL): StatelessCall['sender'] {
  return { authInfo: exchange.authInfo, request: () => toWebRequest(exchange, url) };
}

/** Options of single calls. */
export interface StatelessCallsOptions {
  conversations: Conversations;
  /** Checks the scopes of messages. */
  gate: Pick<ScopeGate, 'check'>;
  /** Counts the calls in flight of a principal. */
  calls: CallLimit;
  /** Calls back when a caller's access ends. */
  access: AccessWatch;
  /** Longest wait for the answers to one POST, in milliseconds. */
  timeoutMs: number;
  /** Ends what runs, each request with an error, and refuses what comes after (T-181). */
  stopped: AbortSignal;
  logger: Logger;
}

/** The messages of one POST that belongs to no session. */
export interface StatelessCall {
  /** No two requests share an id. */
  messages: Messages;
  /** The revision that the server is to speak, if the call does not initialize. */
  protocolVersion: string;
  sender: Sender & { authInfo: AuthInfo };
  /** Calls back once when no request waits for a response any more. */
  onGone(callback: () => void): void;
  /** See `Reply.park`. */
  park(message: Message): (() => void) | undefined;
  /** The calls among the messages, for the ledger. */
  calls?: Exchange['calls'];
}

/**
 * Answers the messages of one POST without a session, or refuses all of them. What the server says beside its answers
 * is dropped, and what it asks the client is answered with an error at once, so that its tool fails clearly (B7-11,
 * B7-14).
 * @returns the answers in the order of the requests; none to a request that the same POST cancels
 * @throws errors of `ServerSource.create`
 */
export type AnswerStateless = (call: StatelessCall) => Promise<Message[] | Refusal>;

const serverEnded: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server ended before it answered. The call may still have had its effect.',
};
const accessEnded: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'Your access ended while the call ran. Log in again. The call may still have had its effect.',
};
const noBackChannel: JsonRpcError = {
  code: errorCodes.methodNotFound,
  message:
    'This client is connected without a session, so the server cannot ask it anything (no sampling, elicitation or roots).',
};

/** Milliseconds after which the access of a running call is watched: most calls are over before. */
const watchAfterMs = 300;

const clientInfo = { name: 'stateless-client', version: '0' };
const initialized: Message = { jsonrpc: '2.0', method: 'notifications/initialized' };

/**
 * Creates the function that responds to POSTs without a session. Each POST has a conversation and a time limit of its own
 * (B7-08, B7-09).
 */
export function createStatelessCalls(options: StatelessCallsOptions): AnswerStateless {
  const { calls, access, timeoutMs, stopped } = options;
  const deadlines = new Deadlines(timeoutMs);
  const young = new Deadlines(watchAfterMs);
  const inFlight = new InFlightMap<number, RunningCall>();
  let lastNumber = 0;
  stopped.addEventListener('abort', () => {
    for (const running of inFlight.values()) running.stop();
  });

  return async (call) => {
    const { list, requests } = call.messages;
    if (!list.some(isSaid)) return [];
    if (stopped.aborted) return closing;
    const principal = principalKey(call.sender.authInfo);
    if (!calls.begin(principal, requests.length)) return tooManyCalls;
    const running = new RunningCall(call, options);
    const forgetDeadline = deadlines.set(() => running.expire());
    let unwatch: (() => void) | undefined;
    const forgetWatch = young.set(() => {
      unwatch = access.watch(call.sender.authInfo, () => running.loseAccess());
    });
    const number = ++lastNumber;
    inFlight.set(number, running);
    try {
      return await running.outcome;
    } finally {
      inFlight.delete(number);
      forgetDeadline();
      forgetWatch();
      unwatch?.();
      calls.end(principal, requests.length);
    }
  };
}

/** One POST and its conversation. */
class RunningCall {
  /** Rejects with errors of `ServerSource.create`. */
  readonly outcome: Promise<Message[] | Refusal>;
  readonly #call: StatelessCall;
  readonly #options: StatelessCallsOptions;
  readonly #answers: CollectedAnswers;
  /** End the counting of answers that wait for the others. */
  #releases: (() => void)[] = [];
  #resolve: (outcome: Message[] | Refusal) => void = () => undefined;
  #conversation: Conversation | undefined;
  #isOver = false;

  constructor(call: StatelessCall, options: StatelessCallsOptions) {
    this.#call = call;
    this.#options = options;
    this.#answers = new CollectedAnswers(call.messages.requests);
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#run().catch((error: unknown) => {
        this.#end();
        reject(error);
      });
    });
    call.onGone(() => this.#finish());
  }

  /** The time limit has passed. */
  expire(): void {
    this.#fail(callTimedOut);
  }

  /** The caller's access was revoked, or has expired (T-103). */
  loseAccess(): void {
    this.#fail(accessEnded);
  }

  /** Nothing is served any more. */
  stop(): void {
    this.#fail(serverEnded);
  }

  async #run(): Promise<void> {
    const { messages, protocolVersion, sender } = this.#call;
    const { conversations, gate } = this.#options;
    const initialize = messages.requests.find(({ method }) => method === 'initialize');
    const params = initialize?.params ?? { protocolVersion, capabilities: {}, clientInfo };
    const opening = await conversations.open(params as InitializeParams, sender, {
      hear: (message) => this.#hear(message),
      ended: () => this.#fail(serverEnded),
    });
    if ('error' in opening) {
      this.#fail(opening.error);
      return;
    }
    this.#conversation = opening.conversation;
    if (this.#isOver) {
      this.#end();
      return;
    }
    const refusal = await gate.check(messages, sender.authInfo, opening.conversation.server);
    if (refusal) {
      this.#end();
      this.#resolve(refusal);
      return;
    }
    if (this.#isOver) return;
    if (initialize) this.#hear({ jsonrpc: '2.0', id: initialize.id, result: opening.result } as Message);
    else this.#sayAll(opening.conversation);
  }

  #sayAll(conversation: Conversation): void {
    const { messages, sender, calls } = this.#call;
    conversation.say(initialized, sender);
    for (const message of messages.list) {
      if (this.#isOver) return;
      if (!isSaid(message)) continue;
      if (calls) calls.runMessage(message, () => conversation.say(message, sender));
      else conversation.say(message, sender);
      if (message.id === undefined && message.method === 'notifications/cancelled')
        this.#answers.drop(message.params?.requestId as RequestId);
    }
    if (this.#answers.isComplete) this.#finish();
  }

  #hear(message: Message): void {
    if (message.method === undefined) {
      this.#takeAnswer(message);
    } else if (message.id !== undefined) {
      this.#conversation?.say(errorAnswer(message.id, noBackChannel), this.#call.sender);
    }
  }

  /** An answer that waits for others is counted; without room for it, an error takes its place. */
  #takeAnswer(message: Message): void {
    const release = this.#answers.isAlone ? undefined : this.#call.park(message);
    const isLost = !this.#answers.isAlone && !release;
    if (release) this.#releases.push(release);
    if (
      this.#answers.take(isLost ? (heldBytesError(message) as Message) : message) &&
      this.#answers.isComplete
    )
      this.#finish();
  }

  #fail(error: JsonRpcError): void {
    this.#answers.fail(error);
    this.#finish();
  }

  #finish(): void {
    this.#end();
    this.#resolve(this.#answers.list());
  }

  #end(): void {
    this.#isOver = true;
    for (const release of this.#releases) release();
    this.#releases = [];
    const conversation = this.#conversation;
    this.#conversation = undefined;
    conversation?.end().catch((error) => {
      this.#options.logger.warn({ err: error }, 'an MCP conversation failed to end');
    });
  }
}

/** Nothing was asked that a response could answer, and the conversation is begun for the client. */
function isSaid({ id, method }: Message): boolean {
  return method !== undefined && (id !== undefined || method !== 'notifications/initialized');
}
