import type { RequestId } from '@modelcontextprotocol/server';
import type { FairQueue } from '../../../collections/fair-queue.ts';
import { type HeldBytes, isRefusal, parseJson, traceOf } from '../../../mcp/building-blocks.ts';
import { type Message, type RequestMessage, readFramesOfServer } from '../../../mcp/protocol.ts';
import type { WriteBatcher } from '../../../net/write-batcher.ts';
import { headerNamePattern, isOwnHeader } from '../../../oauth/headers.ts';
import { modernErrorCodes } from '../../../oauth/mcp-error-codes.ts';
import type { Credentials } from '../../credentials/credentials.ts';
import { readOperatorValue } from '../../credentials/operator-value.ts';
import { type BackendFailure, type FullLimit, failureOfAnswer } from '../backend-errors.ts';
import type { WireFailure } from './answer-body.ts';
import type { Wire } from './wire.ts';

/** Protocol of a server with a URL. */
export type LinkKind = 'http' | 'sse' | 'rest';

/** Reason why a request gets no response. */
export interface LinkFailure extends WireFailure {
  /** HTTP status, if there is one. */
  status?: number;
  /** True if the server may speak another transport, because it did not understand the request. */
  mayBeOther?: boolean;
  /** The reached limit, if it is `backend_busy`. */
  full?: FullLimit;
}

/** Receives the messages of a link. */
export interface LinkListener {
  /** @param relatedTo id of the request that the message came for */
  hear(message: Message, relatedTo?: RequestId): void;
  /** A request gets no response. */
  failed(id: RequestId, failure: LinkFailure): void;
  /**
   * The server has forgotten the session, or its connection has ended.
   * @param unsent messages that the server has not accepted
   */
  lost(link: Link, unsent: readonly Message[]): void;
}

/** One session at a server with a URL, over any transport. */
export interface Link {
  readonly kind: LinkKind;
  /** True if the server keeps a session, which it may forget. */
  readonly hasSession: boolean;
  /** True if a response may still come. */
  readonly isBusy: boolean;
  /** Starts the session. The listener gets the response, like that to any request. */
  open(initialize: RequestMessage): void;
  /** Sends a request, a notification, or a response to a request of the server. */
  send(message: Message): void;
  /** Replaces the credentials that are sent for the caller. */
  use(credentials: Credentials): void;
  /** Cancels the wait for a response. */
  drop(id: RequestId): void;
  /** Ends the session, and tells the server if possible. The listener is not called any more. */
  close(): Promise<void>;
}

/** Dependencies of a link. */
export interface LinkParts {
  wire: Wire;
  url: URL;
  /** Headers of every request to the backend, names and values in turn. */
  headers: readonly string[];
  /** First credentials of the caller. */
  credentials: Credentials;
  /** Owner of the calls. */
  account: string;
  /** Limits the running requests. */
  lanes: FairQueue;
  /** Sends requests; the bytes of several leave together. */
  sendTogether: WriteBatcher;
  /** Limits the streams of sessions. */
  streams: FairQueue;
  /** Maximum number of messages that wait for the start of a session. */
  maxHeld: number;
  /** Maximum length of a response, and of an event of a stream, in bytes. */
  maxAnswerBytes: number;
  /** Maximum number of values in a response or event. */
  maxAnswerValues: number;
  /** Counts the bytes of responses while they are read. */
  held: HeldBytes;
  /** Takes note of a failure that no request waits for. */
  noteFailure(failure: LinkFailure): void;
  /** Takes note of an event that is no message. */
  noteUnreadable(bytes: number): void;
}

/** Headers that an operator sets: values, or places of values. */
export type RemoteHeaders = Readonly<Record<string, string | { env: string } | { file: string }>>;

/** Form of a value of an operator, which is the same in every encoding. */
const valueForm = /^[\t\x20-\x7e]+$/;

/** Returns true if a request may have this header in addition to those that the gateway sets. */
export function isFreeHeader(name: string): boolean {
  return headerNamePattern.test(name) && !isOwnHeader(name);
}

/**
 * Returns the headers of a caller that may be added to a request: none about its length or target.
 * @returns names and values in turn
 */
export function freeHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers)
    .filter(([name]) => isFreeHeader(name))
    .flat();
}

/**
 * Returns the headers with the trace context of a message, for servers that read only those.
 * @returns names and values in turn
 */
export function traceHeaders(message: Message): string[] {
  const trace = traceOf(message);
  if (!trace) return [];
  const { traceparent, tracestate } = trace;
  return ['traceparent', traceparent, ...(tracestate === undefined ? [] : ['tracestate', tracestate])];
}

/**
 * Reads the headers of every request to a backend.
 * @param ours environment of this process
 * @returns names and values in turn
 * @throws Error with the name of an invalid header, but no value
 */
export function ownHeaders(
  headers: RemoteHeaders,
  ours: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.entries(headers).flatMap(([name, from]) => {
    if (!isFreeHeader(name)) throw new Error(`The header ${name} cannot be set: a request has its own.`);
    const read = typeof from === 'string' ? { value: from } : readOperatorValue(from, ours);
    if ('problem' in read) throw new Error(`The header ${name}: ${read.problem}.`);
    if (!valueForm.test(read.value))
      throw new Error(`The value of the header ${name} has characters that no header may have.`);
    return [name.toLowerCase(), read.value];
  });
}

/**
 * Reads one JSON-RPC message, or a batch of them (B3-13, B3-15).
 * @param maxValues see `parseJson`
 * @returns the messages; or the reason why there are none
 */
export function readAnswer(bytes: Uint8Array, maxValues?: number): readonly Message[] | BackendFailure {
  const json = parseJson(bytes, maxValues);
  if (isRefusal(json)) return failureOfAnswer(json.reason);
  const messages = readFramesOfServer(json.value);
  if (!isRefusal(messages)) return messages.list;
  return messages.reason === 'empty_batch' ? [] : 'backend_answer_unreadable';
}

/** Returns true if a message is a response. */
export function isAnswer(message: Message): boolean {
  return message.method === undefined;
}

/**
 * Finds the response to the only request of a POST. An error without the id of a known request belongs to this request
 * (FA-47); a result must have its id.
 * @param isAnothers returns true for an id of another running request
 */
export function answerOf(
  messages: readonly Message[],
  id: unknown,
  isAnothers: (id: Message['id']) => boolean = () => false,
): Message | undefined {
  const answers = messages.filter(isAnswer);
  const own = answers.find((message) => message.id === id);
  if (own) return own;
  const [only] = answers;
  return answers.length === 1 && only && 'error' in only && !isAnothers(only.id) ? only : undefined;
}

/** Returns true if a message is an error of 2026-07-28: its server does not speak an older transport (B5-15). */
export function isModernError(message: Message): boolean {
  const { error } = message as { error?: unknown };
  return modernErrorCodes.has((Object(error) as { code?: unknown }).code);
}

/** Failures for statuses about credentials, rights and load. They say nothing about the request. */
const named: Readonly<Record<number, BackendFailure>> = {
  401: 'backend_wants_login',
  403: 'backend_forbids',
  407: 'backend_forbids',
  408: 'backend_timed_out',
  429: 'backend_overloaded',
  503: 'backend_overloaded',
};

/**
 * Maps a status other than 2xx to a failure. Nothing of a 401 is used, especially not `resource_metadata`: a server
 * must not make Gatehouse fetch a URL (T-161).
 */
export function failureOfStatus(status: number): BackendFailure {
  if (named[status]) return named[status];
  return status >= 500 ? 'backend_failed' : 'backend_refused';
}
