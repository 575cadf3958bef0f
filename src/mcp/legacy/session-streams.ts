import { randomBytes } from 'node:crypto';
import { parseExact } from '../../collections/exact-json.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { AccessWatch, EventStream, Exchange } from '../http/exchange.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Message } from '../protocol.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import type { EventLog, LogOutcome } from './event-log.ts';

/** Prefix of the names of the session's own streams, unlike those of POSTs. */
const ownPrefix = 'own-';

/** Queue of session messages while no stream is open. */
const waitingStream = 'waiting';

/** First revision whose streams begin with an event that a client can resume from (B4-01). */
const firstRevisionWithPriming = '2025-11-25';

/** Response to a call whose server process ended. */
const interrupted = {
  code: errorCodes.internalError,
  message: 'The server restarted while this call ran. It may have taken effect; check before calling again.',
};

/** Options of the streams of a session. */
export interface SessionStreamsOptions {
  log: EventLog;
  access: AccessWatch;
  protocolVersion: string;
  /** True if messages from before a restart may wait. */
  isRestored: boolean;
}

/**
 * The streams of one session: its own (GET), and those of POSTs. Each message goes to exactly one of them (B3-08), and
 * each can be resumed, also after a restart of the process.
 * @see MCP 2025-11-25 transports "Resumability and Redelivery"
 */
export class SessionStreams {
  readonly #log: EventLog;
  readonly #access: AccessWatch;
  readonly #isPrimed: boolean;
  readonly #begun = new Map<string, SessionStream>();
  /** Streams from before a restart whose calls were answered. */
  readonly #answered = new Set<string>();
  #own: SessionStream | undefined;
  #mayWait: boolean;
  // Later than all positions before a restart.
  readonly #firstWaitingPosition = Date.now();
  #waitingPosition = this.#firstWaitingPosition;
  #openCount = 0;
  #isEnded = false;

  constructor({ log, access, protocolVersion, isRestored }: SessionStreamsOptions) {
    this.#log = log;
    this.#access = access;
    this.#isPrimed = protocolVersion >= firstRevisionWithPriming;
    this.#mayWait = isRestored;
  }

  /** Open connections. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Starts the stream of a POST. It has no listener if the client has disconnected already. */
  begin(exchange: Exchange, owed: readonly string[]): SessionStream {
    const stream = new SessionStream(randomBytes(9).toString('base64url'), this.#log, owed);
    this.#begun.set(stream.name, stream);
    if (!exchange.reply.isClosed) {
      stream.attach(this.#open(exchange));
      if (this.#isPrimed) stream.prime();
    }
    return stream;
  }

  /** Ends the stream of a POST: all its responses were sent. */
  finish(stream: SessionStream): void {
    this.#begun.delete(stream.name);
    stream.finish();
  }

  /** Opens the session's own stream, with the waiting messages (B3-07). */
  async listen(exchange: Exchange): Promise<void> {
    const own = this.#ownStream();
    own.attach(this.#open(exchange));
    if (this.#isPrimed) own.prime();
    await this.#sendWaiting(own);
  }

  /** Sends a message that belongs to no POST. */
  tell(message: Message): void {
    if (this.#own?.isHeard) {
      this.#own.write(message);
      return;
    }
    if (!this.#mayWait) void this.#log.open({ stream: waitingStream, owed: [] });
    this.#mayWait = true;
    this.#log.append({
      stream: waitingStream,
      position: ++this.#waitingPosition,
      data: JSON.stringify(message),
    });
  }

  /** Ends the connection of the session's own stream. The client reconnects. */
  release(): void {
    this.#own?.release();
  }

  /**
   * Sends the missed events of a stream, and continues with the stream if it is open. If the stream is complete, the
   * response is 204, after which a client does not return: some would for ever after an error that ended a stream.
   * @see HTML Living Standard, server-sent events "Processing model"
   */
  async resume(exchange: Exchange, { stream: name, position }: EventPlace): Promise<Refusal | undefined> {
    const live = this.#own?.name === name ? this.#own : this.#begun.get(name);
    // Events that come while the stream is read are buffered, and sent after the stored ones.
    const held = new BufferedEvents();
    live?.attach(held);
    const kept = await this.#log.resume(name, position);
    if (!kept && !live) return { reason: 'event_unknown' };
    const { owed, events } = kept ?? { owed: [], events: [] };
    const isOwn = name.startsWith(ownPrefix);
    // Requests of a server from before a restart need no response any more.
    const missed = events.filter(({ data }) => live || !isRequest(data));
    if (!live && !isOwn && missed.length === 0 && owed.length === 0) {
      exchange.reply.empty(204);
      return undefined;
    }
    const listener = this.#open(exchange);
    for (const { data, position: at } of missed) listener.send(data, formatEventId(name, at));
    const last = events.at(-1)?.position ?? position;
    await live?.settled();
    // An event without an id is not stored.
    held.flush(listener, (id) => id === undefined || (parseEventId(id)?.position ?? 0) > last);
    // A client whose session has moved meanwhile comes back, and reaches the process that has it.
    if (!held.isWhole || (isOwn && this.#isEnded)) {
      listener.end();
      return undefined;
    }

    if (isOwn) {
      const own = this.#ownStream();
      own.attach(listener);
      if (own.name !== name && this.#isPrimed) own.prime();
      await this.#sendWaiting(own);
    } else if (live && this.#begun.has(name)) live.attach(listener);
    else if (live) {
      // Its last responses may still wait for the log.
      await live.settled();
      listener.end();
    } else await this.#answerOwed(listener, name, owed, last);
    return undefined;
  }

  /** Resolves once everything written so far is stored, or failed to be. */
  stored(): Promise<void> {
    return this.#log.stored();
  }

  /** Ends all of them. */
  end(): void {
    this.#isEnded = true;
    this.#own?.finish();
    for (const stream of this.#begun.values()) stream.finish();
    this.#begun.clear();
  }

  #ownStream(): SessionStream {
    this.#own ??= new SessionStream(`${ownPrefix}${randomBytes(6).toString('base64url')}`, this.#log, []);
    return this.#own;
  }

  /** A stream ends with the access of its caller (A12-04). */
  #open(exchange: Exchange): EventStream {
    const listener = exchange.reply.stream();
    const unwatch = this.#access.watch(exchange.authInfo, () => listener.end());
    this.#openCount++;
    listener.onClose(() => {
      this.#openCount--;
      unwatch();
    });
    return listener;
  }

  async #sendWaiting(own: SessionStream): Promise<void> {
    if (!this.#mayWait) return;
    this.#mayWait = false;
    const kept = await this.#log.resume(waitingStream, 0).catch((error: unknown) => {
      this.#mayWait = true;
      throw error;
    });
    this.#log.close(waitingStream);
    for (const { data, position } of kept?.events ?? []) {
      // Requests of a server from before a restart need no response any more.
      if (position > this.#firstWaitingPosition || !isRequest(data))
        own.write(parseExact(data).value as Message);
    }
  }

  /** Sends errors for the calls that an ended process left unanswered, once for all listeners. */
  async #answerOwed(
    listener: EventStream,
    stream: string,
    owed: readonly string[],
    last: number,
  ): Promise<void> {
    const unanswered = this.#answered.has(stream) ? [] : owed;
    if (unanswered.length > 0) this.#answered.add(stream);
    const errors = unanswered.map((answers, index) => {
      const data = JSON.stringify({ jsonrpc: '2.0', id: parseExact(answers).value, error: interrupted });
      const position = last + index + 1;
      const { written } = this.#log.append({ stream, position, data, answers });
      return { data, position, written };
    });
    for (const { data, position, written } of errors) {
      const outcome = await written;
      if (outcome !== 'refused')
        listener.send(data, outcome === 'failed' ? undefined : formatEventId(stream, position));
    }
    listener.end();
  }
}

function isRequest(data: string): boolean {
  const { id, method } = parseExact(data).value as Message;
  return id !== undefined && method !== undefined;
}

/** Maximum length of the buffer, in characters. A longer stream ends, and its client reconnects for the stored events. */
const maxHeldLength = 1_000_000;

/** Buffers the events of a stream until its listener is ready. Events that come later go to the listener. */
export class BufferedEvents implements EventStream {
  #events: { data: string; id: string | undefined }[] = [];
  #sendOn: ((data: string, id: string | undefined) => void) | undefined;
  #length = 0;
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if no event was dropped. */
  get isWhole(): boolean {
    return this.#length <= maxHeldLength;
  }

  send(data: string, id?: string): void {
    if (this.#sendOn) {
      this.#sendOn(data, id);
      return;
    }
    this.#length += data.length;
    if (this.isWhole) this.#events.push({ data, id });
    else this.#isOpen = false;
  }

  park(): () => void {
    return () => undefined;
  }

  retry(): void {}

  end(): void {
    this.#isOpen = false;
  }

  onClose(): void {}

  /**
   * Sends the buffered events, and those that come later.
   * @param isNew returns true for the id of an event that the listener does not have yet
   */
  flush(listener: EventStream, isNew: (id: string | undefined) => boolean): void {
    this.#sendOn = (data, id) => {
      if (isNew(id)) listener.send(data, id);
    };
    for (const { data, id } of this.#events) this.#sendOn(data, id);
    this.#events = [];
  }
}

/** Milliseconds that a client should wait before it returns for the rest of a stream. */
const retryMs = 1000;

/**
 * A stream of a session: every message becomes an event in the log, and goes to the listener. It outlives the connection
 * of its listener (B3-06, B3-09). Events are sent once the stream is stored, so that a client can resume with an event id
 * even if the process is killed in the next moment; without an id if it cannot be stored.
 */
export class SessionStream {
  readonly name: string;
  readonly #log: EventLog;
  #position = 0;
  #listener: EventStream | undefined;
  /** Sends in their order; the first ones wait until the log has written. */
  readonly #sends: PendingSend[] = [];
  #isStored = false;

  /**
   * @param name unique in the session
   * @param owed keys of the requests that are answered on it; none on a session's own stream
   */
  constructor(name: string, log: EventLog, owed: readonly string[]) {
    this.name = name;
    this.#log = log;
    this.#inOrder(
      (outcome) => {
        this.#isStored = outcome === 'stored';
      },
      log.open({ stream: name, owed }),
    );
  }

  /** True if a client reads the stream. */
  get isHeard(): boolean {
    return this.#listener?.isOpen === true;
  }

  /** Sends further events to a listener, in place of the previous one. */
  attach(listener: EventStream): void {
    this.#toListener((before) => before.end());
    this.#listener = listener;
  }

  /** Sends an event without data, so that the client can resume before the first message (B4-01). */
  prime(): void {
    const id = formatEventId(this.name, this.#position);
    this.#toListener((listener) => {
      if (this.#isStored) listener.send('', id);
      listener.retry(retryMs);
    });
  }

  /**
   * Sends a message.
   * @param answers key of the request it answers
   */
  write(message: Message, answers?: string): void {
    const isCounted = answers !== undefined && this.#listener !== undefined;
    const release = isCounted ? this.#listener?.park(message) : undefined;
    const data = JSON.stringify(isCounted && !release ? heldBytesError(message) : message);
    const event = { stream: this.name, position: ++this.#position, data };
    const { isKept, written } = this.#log.append(
      answers === undefined ? event : { ...event, answers },
      this.isHeard,
    );
    const id = formatEventId(event.stream, event.position);
    // A client that is cut off returns for the stored event. If the event is not stored, the client gets an error instead.
    const instead = isKept || answers === undefined ? undefined : JSON.stringify(heldBytesError(message));
    this.#toListener((listener, outcome = this.#isStored ? 'stored' : 'failed') => {
      release?.();
      if (outcome !== 'refused')
        listener.send(event.data, outcome === 'stored' ? id : undefined, undefined, instead);
    }, written);
  }

  /** Stores the requests without a response, after others were cancelled. */
  owe(keys: readonly string[]): void {
    void this.#log.open({ stream: this.name, owed: keys });
  }

  /** Ends the connection of the listener, which reconnects later (B4-02). */
  release(): void {
    this.#toListener((listener) => listener.retry(retryMs));
    this.finish();
  }

  /** Ends the listener: the stream is complete. */
  finish(): void {
    this.#toListener((listener) => listener.end());
    this.#listener = undefined;
  }

  /** Resolves once everything written so far is sent. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#inOrder(() => resolve()));
  }

  #toListener(
    send: (listener: EventStream, outcome?: LogOutcome) => void,
    written?: Promise<LogOutcome>,
  ): void {
    const listener = this.#listener;
    if (listener) this.#inOrder((outcome) => send(listener, outcome), written);
  }

  /** Sends after all earlier sends, and once the log has written. */
  #inOrder(send: PendingSend['send'], written?: Promise<LogOutcome>): void {
    const pending: PendingSend = { send, isReady: written === undefined };
    this.#sends.push(pending);
    void written?.then((outcome) => {
      pending.isReady = true;
      pending.outcome = outcome;
      this.#sendReady();
    });
    this.#sendReady();
  }

  #sendReady(): void {
    while (this.#sends[0]?.isReady) {
      const next = this.#sends.shift();
      next?.send(next.outcome);
    }
  }
}

/** A send of a stream that may have to wait for the log. */
interface PendingSend {
  send: (outcome?: LogOutcome) => void;
  isReady: boolean;
  /** Outcome of the write that it has waited for. */
  outcome?: LogOutcome;
}

/** Position of an event: its stream within the session, and its number. */
export interface EventPlace {
  stream: string;
  position: number;
}

/**
 * Writes the id of an event. It names the stream, so that a resumption needs no search (B3-09).
 * @see MCP 2025-11-25 transports "Resumability and Redelivery"
 */
export function formatEventId(stream: string, position: number): string {
  return `${stream}/${position}`;
}

/**
 * Reads a `Last-Event-ID`.
 * @returns undefined for an id of another form
 */
export function parseEventId(id: string): EventPlace | undefined {
  const [, stream, position] = /^([A-Za-z0-9_-]{1,32})\/(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, position: Number(position) };
}
