import type { ServerResponse } from 'node:http';
import { type AuthInfo, accountKeyPrefix } from '../../oauth/auth-info.ts';
import { type HeldBytes, type Loss, type OutgoingBytes, type Owner, smallBytes } from './held-bytes.ts';

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
