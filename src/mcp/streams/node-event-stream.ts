import type { ServerResponse } from 'node:http';
import type { Pulse, Pulsed } from './pulse.ts';
import type { EventStream } from './reply.ts';

/** What may wait for a slow client, in bytes. */
const maxBufferedBytes = 4 * 1024 * 1024;

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
  takenBytes = -1;

  constructor(response: ServerResponse, pulse: Pulse) {
    this.response = response;
    // At once, so that proxies pass the headers on.
    this.#write(': open\n\n');
    pulse.add(this);
    this.onClose(() => pulse.remove(this));
  }

  get isOpen(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  send(data: string, id?: string, event = 'message'): void {
    const name = data === '' ? '' : `event: ${event}\n`;
    const line = data.replace(breaksOfSomeClients, escapeInJson);
    this.#write(`${name}${id === undefined ? '' : `id: ${id}\n`}data: ${line}\n\n`);
  }

  retry(milliseconds: number): void {
    this.#write(`retry: ${milliseconds}\n\n`);
  }

  beat(): void {
    this.#write(': keep-alive\n\n');
  }

  end(): void {
    if (this.isOpen) this.response.end();
  }

  onClose(callback: () => void): void {
    if (this.response.destroyed) callback();
    else this.response.once('close', callback);
  }

  #write(text: string): void {
    if (!this.isOpen) return;
    if (this.response.writableLength > maxBufferedBytes) this.response.destroy();
    else this.response.write(text);
  }
}
