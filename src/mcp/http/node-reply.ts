import type { ServerResponse } from 'node:http';
import type { WriteBatcher } from '../../net/write-batcher.ts';
import { type AuthInfo, accountKeyPrefix } from '../../oauth/auth-info.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import type { EventStream, Reply } from './exchange.ts';
import { type HeldBytes, type Loss, type OutgoingBytes, type Owner, smallBytes } from './held-bytes.ts';

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

/** A connection with an open answer. */
export interface Pulsed {
  readonly response: ServerResponse;
  /** Bytes the client had taken when it was last looked at. */
  takenBytes: number;
  /** Writes a comment; absent on answers that are not streams. */
  beat?(): void;
  /** Closes it, as its client takes nothing. */
  cut(): void;
}

/** Looks after open answers: a comment on every stream in time, and an end to clients that take nothing. */
export interface Pulse {
  /** Looks after an answer until it is closed. */
  add(pulsed: Pulsed): void;
  remove(pulsed: Pulsed): void;
}

/** Streams are spread over this many turns of a period, so that thousands of them are not written to at once. */
const turns = 20;

/**
 * Creates the pulse: one timer for all streams of an endpoint, which runs while there are any. A client with something
 * to take that took nothing for a whole period is cut off (T-143).
 * @param periodMs pause between comments on a stream
 */
export function createPulse(periodMs: number): Pulse {
  const waiting = Array.from({ length: turns }, () => new Set<Pulsed>());
  const turnOf = new Map<Pulsed, Set<Pulsed>>();
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;

  const look = (pulsed: Pulsed): void => {
    const { response } = pulsed;
    const taken = (response.socket?.bytesWritten ?? 0) - (response.socket?.writableLength ?? 0);
    const isStalled = response.writableLength > 0 && taken === pulsed.takenBytes;
    pulsed.takenBytes = taken;
    if (isStalled) pulsed.cut();
    else pulsed.beat?.();
  };
  const next = (): void => {
    turn = (turn + 1) % turns;
    for (const pulsed of waiting[turn] ?? []) look(pulsed);
  };

  return {
    add(pulsed) {
      // The turn that just passed comes last.
      const set = waiting[turn] as Set<Pulsed>;
      set.add(pulsed);
      turnOf.set(pulsed, set);
      timer ??= setInterval(next, Math.max(1, periodMs / turns)).unref();
    },
    remove(pulsed) {
      turnOf.get(pulsed)?.delete(pulsed);
      turnOf.delete(pulsed);
      if (turnOf.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

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

/** Bytes of a large text passed to the socket at once: after each part it shows whether the client reads. */
const pieceBytes = 256 * 1024;

const nothing = (): void => undefined;

/** Receiver of a response, and the counter of its waiting bytes. */
export interface Recipient {
  held: HeldBytes;
  /** Absent before it is known who asks. */
  authInfo?: AuthInfo;
}

/**
 * Writes to a response no faster than its client takes it. What waits is counted in {@link HeldBytes}; what the socket
 * takes at once is not.
 */
export class HeldWriter {
  readonly response: ServerResponse;
  readonly #recipient: Recipient;
  /** Large texts, the first of which is being written. */
  readonly #texts: Buffer[] = [];
  /** Written part of the first one. */
  #written = 0;
  /** Length of all of them. */
  #textBytes = 0;
  #isEnding = false;
  #outgoing: OutgoingBytes | undefined;

  constructor(response: ServerResponse, recipient: Recipient) {
    this.response = response;
    this.#recipient = recipient;
  }

  /** True if more may be written. */
  get isOpen(): boolean {
    return !this.#isEnding && !this.response.writableEnded && !this.response.destroyed;
  }

  /** True if the client has something to take. */
  get isBehind(): boolean {
    return this.#texts.length > 0 || this.response.writableLength > 0;
  }

  /** Returns true if there is room for a text. If not, that is noted, and who wants to write it says something else. */
  takes(text: string): boolean {
    if (text.length <= smallBytes || this.response.destroyed) return true;
    const bytes = Buffer.byteLength(text);
    const { held } = this.#recipient;
    if (held.hasRoom(this.#owner.account, bytes)) return true;
    held.lost({ loss: 'no_room', client: this.#owner.client, bytes });
    return false;
  }

  /**
   * As {@link takes}, for a message that is not written down yet: to write down what is refused takes time and memory.
   * Passes what cannot be told without that.
   */
  takesMessage(message: unknown): boolean {
    const { held } = this.#recipient;
    if (held.outgoingBytes === 0 || this.response.destroyed) return true;
    const length = textLength(message);
    if (length <= smallBytes || held.hasRoom(this.#owner.account, length)) return true;
    held.lost({ loss: 'no_room', client: this.#owner.client, bytes: length });
    return false;
  }

  /** Writes a text. Without room for it, the client is cut off. */
  write(text: string): void {
    if (!this.isOpen) return;
    if (text.length > smallBytes || this.#texts.length > 0) this.#push(text);
    else if (!this.response.write(text)) this.#count();
  }

  /**
   * Ends the response behind what was written.
   * @param last what comes last
   */
  end(last = ''): void {
    if (!this.isOpen) return;
    const isLarge = last.length > smallBytes;
    if (isLarge) this.#push(last);
    if (this.#texts.length > 0) this.#isEnding = true;
    else if (this.isOpen) {
      this.response.end(isLarge ? '' : last);
      if (this.response.writableLength > 0) this.#count();
    }
  }

  /**
   * Counts a message that cannot be written yet.
   * @returns ends that, to be called before the message is written; undefined if there is no room for the message
   */
  park(message: unknown): (() => void) | undefined {
    const length = textLength(message);
    if (length <= smallBytes || this.response.destroyed) return nothing;
    const { held } = this.#recipient;
    const release = held.park(this.#owner.account, length);
    if (!release) held.lost({ loss: 'no_room', client: this.#owner.client, bytes: length });
    return release;
  }

  /** Cuts the client off. */
  cut(loss: Loss): void {
    this.#outgoing?.end(loss);
    this.response.destroy();
  }

  get #owner(): Owner {
    const { authInfo } = this.#recipient;
    return authInfo
      ? { account: accountKeyPrefix(authInfo), client: authInfo.clientId }
      : { account: '', client: '' };
  }

  /** Waiting texts. A large text is held as a whole until the socket has all of it. */
  get #waitingBytes(): number {
    // What the socket has of the first text is counted with that text.
    return this.#textBytes + (this.#written > 0 ? 0 : this.response.writableLength);
  }

  #push(text: string): void {
    const bytes = Buffer.from(text);
    this.#texts.push(bytes);
    this.#textBytes += bytes.length;
    this.#count();
    if (this.#texts.length === 1 && !this.response.writableNeedDrain) this.#go();
  }

  /** Writes until the client is behind. */
  #go(): void {
    for (let text = this.#texts[0]; text && !this.response.destroyed; text = this.#texts[0]) {
      const isTaken = this.response.write(text.subarray(this.#written, this.#written + pieceBytes));
      this.#written += pieceBytes;
      if (this.#written >= text.length) {
        this.#texts.shift();
        this.#textBytes -= text.length;
        this.#written = 0;
      }
      if (!isTaken) break;
    }
    this.#outgoing?.set(this.#waitingBytes);
    if (this.#isEnding && this.#texts.length === 0 && !this.response.writableEnded) this.response.end();
  }

  #count(): void {
    this.#outgoing ??= this.#begin();
    if (this.#outgoing.set(this.#waitingBytes)) return;
    const { client } = this.#owner;
    this.#recipient.held.lost({ loss: 'no_room', client, bytes: this.#waitingBytes });
    this.#outgoing.end();
    this.#texts.length = 0;
    this.response.destroy();
  }

  #begin(): OutgoingBytes {
    const outgoing = this.#recipient.held.outgoing(this.#owner, () => this.response.destroy());
    this.response.on('drain', () => {
      outgoing.progress();
      this.#go();
    });
    this.response.once('close', () => {
      this.#texts.length = 0;
      outgoing.end(this.response.writableFinished ? undefined : 'left');
    });
    return outgoing;
  }
}

/** Most values of a message that are looked at to find out how long it is. */
const maxValues = 10_000;

/** Returns the length of the texts of a message, in characters: it is not shorter when it is written down. */
export function textLength(message: unknown): number {
  const values: unknown[] = [message];
  let length = 0;
  for (let seen = 0; values.length > 0 && seen < maxValues; seen++) {
    const value = values.pop();
    if (typeof value === 'string') length += value.length;
    else if (Array.isArray(value))
      for (let at = 0; at < value.length && at < maxValues; at++) values.push(value[at]);
    else if (typeof value === 'object' && value !== null)
      for (const name in value) values.push(value[name as keyof typeof value]);
  }
  return length;
}
