import type { Writable } from 'node:stream';
import type { RequestId } from '@modelcontextprotocol/server';
import { jsonLine } from '../../collections/exact-json.ts';
import type { Frames, Message } from '../protocol.ts';

/** Writes a message, or an array of answers, as one line. */
export type WriteLine = (message: Message | readonly Message[]) => void;

/** The one MCP server on the other side of a stdio connection, in one era. */
export interface StdioConnection {
  /** Takes the messages of a line, one line after the other. Resolves when the next one may follow. */
  take(messages: Frames): Promise<void>;
  /** Ends it: running calls are aborted, and nothing more is written. */
  end(): Promise<void>;
}

const flushPatienceMs = 1000;

/**
 * Writes messages as lines. A reader that is gone (EPIPE) is no error: what is written then goes nowhere (T-150).
 */
export class LineWriter {
  readonly #stdout: Writable;
  #isGone = false;

  /** @param onGone called once when nobody reads any more */
  constructor(stdout: Writable, onGone: () => void) {
    this.#stdout = stdout;
    const gone = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      onGone();
    };
    // The listener stays: a late EPIPE must not end the process with an uncaught error.
    stdout.on('error', gone);
    stdout.once('close', gone);
  }

  /** True if the reader has more to take than is wise to add to. */
  get isFull(): boolean {
    return !this.#isGone && this.#stdout.writableNeedDrain;
  }

  /** Calls back once when it is not full any more. */
  onDrain(callback: () => void): void {
    this.#stdout.once('drain', callback);
  }

  /** Writes one message as one line: JSON escapes line breaks (B1-03). */
  write(message: unknown): void {
    if (!this.#isGone) this.#stdout.write(jsonLine(message));
  }

  /** Resolves when all that was written is out, or nobody takes it for a second. */
  async flush(): Promise<void> {
    if (this.#isGone) return;
    const { promise: out, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, flushPatienceMs);
    this.#stdout.write('', () => resolve());
    this.#stdout.once('close', () => resolve());
    await out;
    clearTimeout(timer);
  }
}

/** The requests of the host that wait for their answers, so that an ending connection can let the quick ones out. */
export class Unanswered {
  readonly #ids = new Set<RequestId>();
  #onNone: (() => void) | undefined;

  /** Takes note of what a line asks, and of what it cancels. */
  asked({ list, requests }: Frames): void {
    for (const { id } of requests) this.#ids.add(id);
    for (const { method, params } of list)
      if (method === 'notifications/cancelled') this.#forget(params?.requestId as RequestId);
  }

  /** Takes note of what was written. */
  answered(written: Message | readonly Message[]): void {
    for (const { id, method } of [written].flat())
      if (method === undefined && id !== undefined) this.#forget(id);
  }

  /**
   * Waits until lines are taken and everything is answered.
   * @param patienceMs longest wait, in milliseconds
   * @param taking the taking of lines that goes on, if any
   */
  async settled(patienceMs: number, taking: () => Promise<void> | undefined): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
    const timer = setTimeout(giveUp, patienceMs);
    const { promise: none, resolve: onNone } = Promise.withResolvers<void>();
    await Promise.race([taking(), late]);
    this.#onNone = onNone;
    if (this.#ids.size === 0) onNone();
    await Promise.race([none, late]);
    clearTimeout(timer);
  }

  #forget(id: RequestId): void {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.#onNone?.();
  }
}
