import type { ServerResponse } from 'node:http';
import type { SendTogether } from '../../net/coalescer.ts';
import { NodeEventStream } from './node-event-stream.ts';
import type { Pulse } from './pulse.ts';
import type { EventStream, Reply } from './reply.ts';

type ReplyHeaders = Readonly<Record<string, string>>;

/**
 * The answer to one request over a Node response. Headers that were set on the response before stay.
 */
export class NodeReply implements Reply {
  readonly #response: ServerResponse;
  readonly #pulse: Pulse;
  readonly #sendTogether: SendTogether;
  /** Whether it was answered in full, which may still have to leave. */
  #isAnswered = false;

  constructor(response: ServerResponse, pulse: Pulse, sendTogether: SendTogether) {
    this.#response = response;
    this.#pulse = pulse;
    this.#sendTogether = sendTogether;
  }

  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  get isClosed(): boolean {
    return this.#isAnswered || this.#response.destroyed || this.#response.writableEnded;
  }

  json(status: number, body: unknown, headers?: ReplyHeaders): void {
    const text = JSON.stringify(body);
    const head = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      ...headers,
    };
    if (this.#answer(status, head)) this.#sendTogether(() => this.#send(text));
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
    return new NodeEventStream(this.#response, this.#pulse);
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
    response.end(text);
    if (response.writableLength === 0) return;
    // A large answer to a client that does not take it is cut off like a stream.
    const pulsed = { response, takenBytes: -1 };
    this.#pulse.add(pulsed);
    response.once('close', () => this.#pulse.remove(pulsed));
  }
}
