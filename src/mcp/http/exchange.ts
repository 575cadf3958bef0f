import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { TraceContext } from '../../observability/trace-context.ts';
import type { JsonRpcError, Message } from '../protocol.ts';
import type { Messages } from '../reading/messages.ts';
import type { JsonReply, Refusal } from './refusal.ts';

/** One HTTP request at an MCP endpoint, its caller, and its response. */
export interface Exchange {
  method: string;
  headers: IncomingHttpHeaders;
  /** The query string, without `?`. */
  query: string;
  /** The unread body. */
  body: Readable;
  authInfo: AuthInfo;
  reply: Reply;
  /** True if another process has counted the request, and has forwarded it here. */
  isCounted?: boolean;
  /** `X-Request-Id` of the response; absent if nobody names requests. */
  requestId?: string;
  /** Length of the body, once it was read. */
  bytes?: number;
  /** The calls of the body; absent if it has none. */
  calls?: ExchangeCalls;
  /** Called once the trace of the request is known. */
  onTrace?: (trace: Pick<TraceContext, 'traceId' | 'spanId'>) => void;
  /** The body once it was read, if another process may have to answer the request. */
  sent?: Buffer;
}

/** The calls of a body on their way into the ledger. Each is recorded once. */
export interface ExchangeCalls {
  /** Runs the handling of one message of the body, so that notes are added to its record. */
  runMessage(message: Message, work: () => void): void;
  /**
   * Takes the response to a request, and sends it.
   * @param send called once; later if the record must be durable first
   * @param refusal reason if the response is a refusal
   */
  answer(message: Message, send: (message: Message) => void, refusal?: string): void;
  /**
   * Takes the responses to the requests of a body. Calls without a response were cancelled.
   * @returns the responses to send
   */
  answerAll(messages: readonly Message[]): Promise<Message[]>;
  /** The client cancelled a request, or nobody waits for its response. */
  cancel(id: RequestId): void;
  /** Nobody waits for the other responses of the body. */
  cancelRest(): void;
  /** The other requests of the body get an error. */
  failRest(error: JsonRpcError): void;
}

/** The body of a POST: the messages, and the JSON they were read from. */
export interface Posted {
  value: unknown;
  messages: Messages;
}

/**
 * Answers a request on `exchange.reply`, or returns the refusal before anything was sent. All transports over HTTP have
 * this shape.
 */
export type Serve = (exchange: Exchange, posted?: Posted) => Promise<Refusal | undefined>;

/** The same with the body: each step between the checks of a request and its transport has this shape. */
export type ServePosted<Body extends Posted | undefined> = (
  exchange: Exchange,
  posted: Body,
) => ReturnType<Serve>;

/** A stream of server-sent events to one client. It is kept alive, and cut off if the client reads nothing (T-143). */
export interface EventStream {
  readonly isOpen: boolean;
  /**
   * Sends one event. Does nothing once the stream is closed.
   * @param data JSON, so that no line break of it can begin another field (T-139); empty for a priming event
   * @param id event id
   * @param event name of the event; `message` by default
   * @param instead data to send if there is no room for the other; without it, the client is cut off then
   */
  send(data: string, id?: string, event?: string, instead?: string): void;
  /**
   * Counts a message until it is sent (`limits.heldBytes`).
   * @returns ends the counting, before the message is sent; undefined if there is no room for the message
   */
  park(message: unknown): (() => void) | undefined;
  /** Sets the client's reconnection time, in milliseconds. */
  retry(milliseconds: number): void;
  /** Ends it after the events that were sent. */
  end(): void;
  /** Calls back once, when the stream was ended or the client has disconnected; at once if that is so already. */
  onClose(callback: () => void): void;
}

/** The HTTP response to one request. The first call decides its kind; a second one throws. */
export interface Reply extends JsonReply {
  /** True if the response has begun. */
  readonly isBegun: boolean;
  /** True if the client has disconnected, or the response is complete. */
  readonly isClosed: boolean;
  /** Counts a message until the others of its batch are there; see {@link EventStream.park}. */
  park(message: unknown): (() => void) | undefined;
  /** Sends a response without a body. */
  empty(status: number, headers?: Readonly<Record<string, string>>): void;
  /** Sends a stream, its headers and a comment at once. */
  stream(headers?: Readonly<Record<string, string>>): EventStream;
  /** Calls back once, when the response is sent or the client has disconnected; at once if that is so already. */
  onClose(callback: () => void): void;
}

/** Time for a caller to come back with a renewed token, after the access token expired. */
export interface Renewal {
  seconds: number;
  /** Called once when the token expires. */
  onExpiry(): void;
}

/** Calls back when a caller's access ends while a stream of the caller is open (A12-04). */
export interface AccessWatch {
  /**
   * Calls `onEnd` once, within a second of the access token being revoked or expiring. With a `renewal`, an expired token
   * ends the access only after that time, and a revoked one still at once.
   * @returns stops watching
   */
  watch(authInfo: AuthInfo, onEnd: () => void, renewal?: Renewal): () => void;
}

/** Headers that stay at the gate: they carry credentials, or frame a body that was read already. */
const keptAtTheGate = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'content-length',
  'transfer-encoding',
  'connection',
]);

/**
 * Builds the request that an MCP server sees: without credentials and body (T-105).
 * @param url the endpoint's public URL
 */
export function toWebRequest({ method, headers }: Exchange, url: URL): Request {
  const passed = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!keptAtTheGate.has(name) && value !== undefined) passed.set(name, String(value));
  }
  return new Request(url, { method, headers: passed });
}
