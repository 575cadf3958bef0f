import type { ServerResponse } from 'node:http';
import type { EventStream } from './exchange.ts';
import { HeldWriter, type Recipient } from './held-writer.ts';
import type { Pulse, Pulsed } from './pulse.ts';

/** JSON leaves them as they are, events too; but clients that split text as Python does end a line there (T-139). */
const breaksOfSomeClients = /[\u0085\u2028\u2029]/g;

function escapeInJson(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * A stream of server-sent events over a Node response whose head is written.
 * @see WHATWG HTML "Server-sent events"; MCP transports "Streamable HTTP"
 */
export class NodeEventStream implements EventStream, Pulsed {
  readonly response: ServerResponse;
  readonly #writer: HeldWriter;
  takenBytes = -1;

  constructor(response: ServerResponse, pulse: Pulse, recipient: Recipient) {
    this.response = response;
    this.#writer = new HeldWriter(response, recipient);
    // At once, so that proxies pass the headers on.
    this.#writer.write(': open\n\n');
    pulse.add(this);
    this.onClose(() => pulse.remove(this));
  }

  get isOpen(): boolean {
    return this.#writer.isOpen;
  }

  send(data: string, id?: string, event = 'message', instead?: string): void {
    const told = instead === undefined || this.#writer.takes(data) ? data : instead;
    const name = told === '' ? '' : `event: ${event}\n`;
    const line = told.replace(breaksOfSomeClients, escapeInJson);
    this.#writer.write(`${name}${id === undefined ? '' : `id: ${id}\n`}data: ${line}\n\n`);
  }

  park(message: unknown): (() => void) | undefined {
    return this.#writer.park(message);
  }

  retry(milliseconds: number): void {
    this.#writer.write(`retry: ${milliseconds}\n\n`);
  }

  beat(): void {
    // A client that has something to take needs no sign of life.
    if (!this.#writer.isBehind) this.#writer.write(': keep-alive\n\n');
  }

  cut(): void {
    this.#writer.cut('stalled');
  }

  end(): void {
    this.#writer.end();
  }

  onClose(callback: () => void): void {
    if (this.response.destroyed) callback();
    else this.response.once('close', callback);
  }
}
