import type { AccessWatch, EventStream, Reply } from '../http/exchange.ts';
import type { Deadlines } from '../http/limits.ts';
import type { Answer, Call, Caller, Message, RequestMessage } from '../protocol.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import { mayHear } from '../sdk/log-level.ts';

/** Common parts of calls over HTTP. */
export interface HttpCallOptions {
  /** Opens a stream for a call without a response, so that keep-alive comments are sent. */
  late: Deadlines;
  accessWatch?: AccessWatch;
  /** Returns true if notifications of a method may be sent to clients. */
  passes(method: string): boolean;
  /** Changes the response before it is sent. */
  finish(answer: Answer, call: Call): Answer;
  /** Called once, when the call was answered or cancelled. */
  ended(call: Call): void;
}

/**
 * One call over HTTP. Its response is JSON, or a stream if the server sends a message before the response. A client that
 * disconnects cancels it.
 * @see MCP 2026-07-28 transports "Sending Messages to the Server" (B5-13, B5-14)
 */
export class HttpCall implements Call {
  readonly request: RequestMessage;
  readonly caller: Caller;
  readonly #reply: Reply;
  readonly #options: HttpCallOptions;
  readonly #forgetLate: () => void;
  #stream: EventStream | undefined;
  #unwatch: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #hasEnded = false;

  constructor(request: RequestMessage, caller: Caller, reply: Reply, options: HttpCallOptions) {
    this.request = request;
    this.caller = caller;
    this.#reply = reply;
    this.#options = options;
    this.#forgetLate = options.late.set(() => this.#openStream());
  }

  /**
   * Sets the function that cancels the call when the client disconnects; called at once if it has disconnected.
   * @param cancel see `Backend.begin`
   */
  cancelWith(cancel: () => void): void {
    if (this.#hasEnded) return;
    this.#cancel = cancel;
    this.#reply.onClose(() => this.#abandon());
  }

  notify(notification: Message): void {
    if (this.#hasEnded || !this.#options.passes(notification.method ?? '')) return;
    if (!mayHear(this.request, notification)) return;
    this.#openStream()?.send(JSON.stringify(notification));
  }

  answer(answer: Answer): void {
    if (this.#hasEnded) return;
    this.#end();
    const { status, headers, result, error } = this.#options.finish(answer, this);
    const { id } = this.request;
    const message = error ? { jsonrpc: '2.0', id, error } : { jsonrpc: '2.0', id, result };
    if (this.#stream) {
      const instead = heldBytesError(message);
      const release = this.#stream.park(message);
      const told = release ? message : instead;
      release?.();
      this.#stream.send(JSON.stringify(told), undefined, undefined, JSON.stringify(instead));
      this.#stream.end();
    } else if (!this.#reply.isClosed) this.#reply.json(status, message, headers);
  }

  #openStream(): EventStream | undefined {
    if (this.#stream || this.#hasEnded || this.#reply.isClosed) return this.#stream;
    this.#stream = this.#reply.stream();
    this.#unwatch = this.#options.accessWatch?.watch(this.caller.authInfo, () => this.#abandon());
    return this.#stream;
  }

  #abandon(): void {
    if (this.#hasEnded) return;
    this.#end();
    this.#cancel?.();
    this.#stream?.end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#forgetLate();
    this.#unwatch?.();
    this.#options.ended(this);
  }
}
