import type { JsonRpcError, Message, RequestMessage } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/** The answer to a request. */
export type Answer =
  | { result: Record<string, unknown>; error?: undefined }
  | { error: JsonRpcError; result?: undefined };

/** State of a request on its way. */
export interface Passing {
  /** The caller; absent for the front's own requests to a server that serves many. */
  readonly caller: AuthInfo | undefined;
  readonly era: 'legacy' | 'modern';
  /** The call was cancelled, or its client is gone: its answer goes to nobody. */
  readonly isCancelled: boolean;
  /** Aborted when it is; made when it is first looked at, for who has to wait for that. */
  readonly signal: AbortSignal;
  /** The connection to the server: the same object for all requests that pass on it. */
  readonly behind: object;
  /** Asks the server something of our own for the caller, past the steps; after ten seconds the answer is an error. */
  ask(method: string, params: Record<string, unknown>): Promise<Answer>;
  /** Calls back when the server shows that it works on the request: it tells of progress, or asks its client something. */
  onProgress(tell: () => void): void;
}

/** A connection to a server, and the caller it was made for; no caller if it serves everybody. */
export interface Line {
  readonly caller: AuthInfo | undefined;
  /** See {@link Passing.behind}. */
  readonly behind: object;
}

/**
 * Hands a request on to the steps behind, and in the end to the server; not again before it was answered. What goes wrong on
 * the way rejects the promise: nothing is thrown at once.
 */
export type Next = (request: RequestMessage) => Promise<Answer>;

/** Something between the front and a server, equal for all backends and eras. */
export interface Step {
  /** Returns true if it has to do with requests of a method; asked once for each method. */
  cares(method: string): boolean;
  /**
   * Answers a request, by handing it on or itself. An answer that is given while the server still works on the request
   * cancels it there. What it throws rejects the promise, as of {@link Next}.
   */
  answer(request: RequestMessage, passing: Passing, next: Next): Promise<Answer>;
  /**
   * True if clients may hear a notification or a request of the server. A request that they may not hear is refused.
   * @param line the connection on which the server sent it; absent if a listener asks what it may hear
   */
  mayTell?(said: Message, line?: Line): boolean;
  /** True if the server may hear a notification of a client. */
  mayPass?(notification: Message, line: Line): boolean;
  /**
   * Returns what the server asks or tells its client beside answers, as the client may read it; or the error that answers a
   * question which the client may not read.
   */
  relay?(said: Message): Message | { refusal: JsonRpcError };
  /** Hears what the server says of changes: of its lists, or of a resource. */
  hear?(notification: Message, behind: object): void;
}
