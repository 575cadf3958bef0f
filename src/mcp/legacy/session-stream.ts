import type { EventStream } from '../http/reply.ts';
import type { Message } from '../reading/frames.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import { formatEventId } from './event-id.ts';
import type { EventLog } from './event-log.ts';

/** Milliseconds that a client should wait before it returns for the rest of a stream. */
const retryMs = 1000;

/**
 * A stream of a session: every message becomes an event in the log and goes to whoever listens. It outlives the
 * connection of its listener (B3-06, B3-09). Nobody hears an event before the stream is kept, so that whoever knows an
 * event id can come back with it, even if the process is killed in the next moment.
 */
export class SessionStream {
  readonly name: string;
  readonly #log: EventLog;
  #position = 0;
  #listener: EventStream | undefined;
  /** Events to send once the stream is stored; undefined afterwards. */
  #held: (() => void)[] | undefined = [];

  /**
   * @param name unique in the session
   * @param owed keys of the requests that are answered on it; none on a session's own stream
   */
  constructor(name: string, log: EventLog, owed: readonly string[]) {
    this.name = name;
    this.#log = log;
    void log.open({ stream: name, owed }).then(() => {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const send of held) send();
    });
  }

  /** True if somebody listens. */
  get isHeard(): boolean {
    return this.#listener?.isOpen === true;
  }

  /** Sends what comes to a listener; one before it is let go. */
  attach(listener: EventStream): void {
    this.#toListener((before) => before.end());
    this.#listener = listener;
  }

  /** Returns the listener an event without data, with which it can come back before the first message (B4-01). */
  prime(): void {
    const id = formatEventId(this.name, this.#position);
    this.#toListener((listener) => {
      listener.send('', id);
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
    const isKept = this.#log.append(answers === undefined ? event : { ...event, answers }, this.isHeard);
    const id = formatEventId(event.stream, event.position);
    // A client that is cut off comes back for what is kept; otherwise it is told here that there is no room.
    const instead = isKept || answers === undefined ? undefined : JSON.stringify(heldBytesError(message));
    this.#toListener((listener) => {
      release?.();
      listener.send(event.data, id, undefined, instead);
    });
  }

  /** Takes note of the requests that are still to be answered on it: others were cancelled. */
  owe(keys: readonly string[]): void {
    void this.#log.open({ stream: this.name, owed: keys });
  }

  /** Lets the listener go, to come back later (B4-02). */
  release(): void {
    this.#toListener((listener) => listener.retry(retryMs));
    this.finish();
  }

  /** Lets the listener go: everything was said. */
  finish(): void {
    this.#toListener((listener) => listener.end());
    this.#listener = undefined;
  }

  #toListener(send: (listener: EventStream) => void): void {
    const listener = this.#listener;
    if (!listener) return;
    if (this.#held) this.#held.push(() => send(listener));
    else send(listener);
  }
}
