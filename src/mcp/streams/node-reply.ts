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

  constructor(response: ServerResponse, pulse: Pulse, sendTogether: SendTogether) {
    this.#response = response;
    this.#pulse = pulse;
    this.#sendTogether = sendTogether;
  }

  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  get isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  json(status: number, body: unknown, headers?: ReplyHeaders): void {
    const text = JSON.stringify(body);
    this.#finish(text, status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      ...headers,
    });
  }

  empty(status: number, headers?: ReplyHeaders): void {
    this.#finish(undefined, status, { 'Content-Length': 0, 'Cache-Control': 'no-store', ...headers });
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

  #finish(text: string | undefined, status: number, headers: Record<string, string | number>): void {
    this.#begin();
    const response = this.#response;
    if (response.destroyed) return;
    response.writeHead(status, headers);
    this.#sendTogether(() => this.#send(text));
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
