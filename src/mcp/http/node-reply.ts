import type { ServerResponse } from 'node:http';
import type { WriteBatcher } from '../../net/write-batcher.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import type { EventStream, Reply } from './exchange.ts';
import { smallBytes } from './held-bytes.ts';
import { HeldWriter, type Recipient } from './held-writer.ts';
import { NodeEventStream } from './node-event-stream.ts';
import type { Pulse } from './pulse.ts';

type ReplyHeaders = Readonly<Record<string, string>>;

/** Seconds after which a client that got no response for lack of room may send its request again. */
const retryAfterSeconds = '5';

/**
 * The answer to one request over a Node response. Headers that were set on the response before stay.
 */
export class NodeReply implements Reply {
  readonly #response: ServerResponse;
  readonly #pulse: Pulse;
  readonly #sendTogether: WriteBatcher;
  readonly #recipient: Recipient;
  readonly #writer: HeldWriter;
  /** True if it was answered in full, which may still have to leave. */
  #isAnswered = false;

  constructor(response: ServerResponse, pulse: Pulse, sendTogether: WriteBatcher, recipient: Recipient) {
    this.#response = response;
    this.#pulse = pulse;
    this.#sendTogether = sendTogether;
    this.#recipient = recipient;
    this.#writer = new HeldWriter(response, recipient);
  }

  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  get isClosed(): boolean {
    return this.#isAnswered || this.#response.destroyed || this.#response.writableEnded;
  }

  park(message: unknown): (() => void) | undefined {
    return this.#writer.park(message);
  }

  json(status: number, body: unknown, headers?: ReplyHeaders): void {
    // Before it is written down, too: what is refused should take no memory.
    const text = this.#writer.takesMessage(body) ? JSON.stringify(body) : undefined;
    if (text !== undefined && this.#writer.takes(text)) this.#sendJson(status, text, headers);
    else {
      const retry = { ...headers, 'Retry-After': retryAfterSeconds };
      this.#sendJson(503, JSON.stringify(heldBytesError(body)), retry);
    }
  }

  #sendJson(status: number, text: string, headers?: ReplyHeaders): void {
    const head = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      ...headers,
    };
    if (!this.#answer(status, head)) return;
    // Now, while there is the room that was found.
    if (text.length > smallBytes) this.#send(text);
    else this.#sendTogether(() => this.#send(text));
  }

  empty(status: number, headers?: ReplyHeaders): void {
    const head = { 'Content-Length': 0, 'Cache-Control': 'no-store', ...headers };
    // At once: what is taken with it may be answered on a stream, behind it.
    if (this.#answer(status, head)) this.#send(undefined);
  }

  stream(headers?: ReplyHeaders): EventStream {
    this.#begin();
    if (!this.#response.destroyed)
      this.#response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
        ...headers,
      });
    return new NodeEventStream(this.#response, this.#pulse, this.#recipient);
  }

  onClose(callback: () => void): void {
    if (this.#response.destroyed || this.#response.writableFinished) callback();
    else this.#response.once('close', callback);
  }

  #begin(): void {
    if (this.isBegun) throw new Error('This request was answered before.');
  }

  /** Writes a head behind which nothing but its body comes. @returns whether somebody is there to take it */
  #answer(status: number, headers: Record<string, string | number>): boolean {
    this.#begin();
    if (this.#response.destroyed) return false;
    this.#response.writeHead(status, headers);
    this.#isAnswered = true;
    return true;
  }

  #send(text: string | undefined): void {
    const response = this.#response;
    if (response.destroyed) return;
    const writer = this.#writer;
    writer.end(text);
    if (!writer.isBehind) return;
    // A large answer to a client that does not take it is cut off like a stream.
    const pulsed = { response, takenBytes: -1, cut: () => writer.cut('stalled') };
    this.#pulse.add(pulsed);
    response.once('close', () => this.#pulse.remove(pulsed));
  }
}
