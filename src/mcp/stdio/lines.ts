import type { Writable } from 'node:stream';
import type { RequestId } from '@modelcontextprotocol/server';
import { endedWithin } from '../../collections/closing.ts';
import { jsonLine } from '../../collections/exact-json.ts';
import type { Frames, Message } from '../protocol.ts';

/** Writes a message, or an array of responses, as one line. */
export type WriteLine = (message: Message | readonly Message[]) => void;

/** The one MCP server on the other side of a stdio connection, in one era. */
export interface StdioConnection {
  /** Takes the messages of a line. Resolves when the next line may follow. */
  take(messages: Frames): Promise<void>;
  /** Ends it: running calls are cancelled, and nothing more is written. */
  end(): Promise<void>;
}

const flushPatienceMs = 1000;

/**
 * Writes messages as lines. A closed reader (EPIPE) is not an error: further messages are dropped (T-150).
 */
export class LineWriter {
  readonly #stdout: Writable;
  #isGone = false;

  /** @param onGone called once when the reader has closed */
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

  /** True if the buffer of the stream is full. */
  get isFull(): boolean {
    return !this.#isGone && this.#stdout.writableNeedDrain;
  }

  /** Calls back once when the buffer has room again. */
  onDrain(callback: () => void): void {
    this.#stdout.once('drain', callback);
  }

  /** Writes one message as one line: JSON escapes line breaks (B1-03). */
  write(message: unknown): void {
    if (!this.#isGone) this.#stdout.write(jsonLine(message));
  }

  /** Resolves when everything is written, or after a second. */
  async flush(): Promise<void> {
    if (this.#isGone) return;
    const { promise: out, resolve } = Promise.withResolvers<void>();
    this.#stdout.write('', () => resolve());
    this.#stdout.once('close', () => resolve());
    await endedWithin(flushPatienceMs, out);
  }
}

/** The unanswered requests of the host. An ending connection waits shortly for their responses. */
export class Unanswered {
  readonly #ids = new Set<RequestId>();
  #onNone: (() => void) | undefined;

  /** Adds the requests of a line, and removes those that it cancels. */
  asked({ list, requests }: Frames): void {
    for (const { id } of requests) this.#ids.add(id);
    for (const { method, params } of list)
      if (method === 'notifications/cancelled') this.#forget(params?.requestId as RequestId);
  }

  /** Removes the requests whose responses were written. */
  answered(written: Message | readonly Message[]): void {
    for (const { id, method } of [written].flat())
      if (method === undefined && id !== undefined) this.#forget(id);
  }

  /**
   * Waits until all lines are processed and all requests are answered.
   * @param patienceMs maximum wait, in milliseconds
   * @param taking returns the processing of lines that still runs
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
