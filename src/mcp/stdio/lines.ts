import type { Writable } from 'node:stream';
import type { RequestId } from '@modelcontextprotocol/server';
import { type ExactJson, isId, jsonLine } from '../../collections/exact-json.ts';
import { isRefusal, type Refusal } from '../http/refusal.ts';
import type { Frames, Message } from '../protocol.ts';
import { readFramesOfServer } from '../reading/frames.ts';
import { outerId, parseJson } from '../reading/json.ts';
import { type Messages, readMessages, withPlainContent } from '../reading/messages.ts';

/**
 * Reads one line of a client as a JSON-RPC message, or a batch of them.
 * @param isRelayed whether the messages go on to servers elsewhere, which get numbers as they were written (FA-40)
 * @returns undefined for a blank line; a refusal names the id of the message if it can be made out
 * @see MCP transports "stdio"; JSON-RPC 2.0 sections 4 and 5 (B1-01, B1-03, T-150)
 */
export function readLine(line: Uint8Array, isRelayed: boolean): Messages | Refusal | undefined {
  const read = ({ value, hasExactNumbers }: ExactJson) =>
    readMessages(hasExactNumbers && !isRelayed ? withPlainContent(value) : value);
  return readLineWith(read, line);
}

function readLineWith<Read>(
  read: (json: ExactJson) => Read | Refusal,
  line: Uint8Array,
  maxValues?: number,
): Read | Refusal | undefined {
  if (line.every(isBlank)) return undefined;
  const json = parseJson(line, maxValues);
  if (isRefusal(json)) {
    const id = outerId(line);
    return id === undefined ? json : { ...json, id };
  }
  const messages = read(json);
  if (!isRefusal(messages)) return messages;
  const id = idOf(json.value);
  return id === undefined ? messages : { ...messages, id };
}

/**
 * Reads one line of a program that answers, as {@link readLine} does. What does not say that it is JSON-RPC is no answer
 * to anybody, whatever `id` it has: a line of a log, say.
 * @param maxValues see `parseJson`
 */
export function readLineOfServer(line: Uint8Array, maxValues?: number): Frames | Refusal | undefined {
  const read = readLineWith(({ value }) => readFramesOfServer(value), line, maxValues);
  if (!isRefusal(read) || Buffer.from(line.buffer, line.byteOffset, line.byteLength).includes('"jsonrpc"'))
    return read;
  const { id: _ofNoAnswer, ...refusal } = read;
  return refusal;
}

/** White space of JSON, the carriage return of CRLF among it (RFC 8259 section 2). */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function idOf(value: unknown): RequestId | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  const { id } = value;
  return isId(id) ? id : undefined;
}

/** Writes a message, or an array of answers, as one line. */
export type WriteLine = (message: Message | readonly Message[]) => void;

/** The one MCP server on the other side of a stdio connection, in one era. */
export interface Link {
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
