import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, type Zlib } from 'node:zlib';
import {
  type Deadlines,
  type HeldBytes,
  type IncomingBytes,
  smallBytes,
} from '../../../mcp/building-blocks.ts';
import type { BackendFailure } from '../backend-errors.ts';

/** The counter for the bytes of responses, and the account that they belong to. */
export interface Holding {
  held: HeldBytes;
  /** See `accountKeyPrefix`. */
  account: string;
}

/** Limits of a body: its size and its time. */
interface BodyLimits {
  maxBytes: number;
  deadlines: Deadlines;
  /** Absent if `maxBytes` is small. */
  holding?: Holding;
}

/**
 * Reads a body that is no stream, within limits (T-157).
 * @param done called once, with the body or the reason why there is none
 */
export function readBody(
  answer: WireAnswer,
  { maxBytes, deadlines, holding }: BodyLimits,
  done: (body: Buffer | BackendFailure) => void,
): void {
  const pieces = new Pieces();
  let length = 0;
  let isOver = false;
  let bytes: IncomingBytes | undefined;
  const begin = (): IncomingBytes | undefined =>
    holding && holdAnswer(answer, holding, () => finish('too_many_held_bytes'));
  const end = (): void => {
    isOver = true;
    forgetDeadline();
    bytes?.end();
  };
  const finish = (body: Buffer | BackendFailure): void => {
    if (isOver) return;
    end();
    if (typeof body === 'string') answer.drop();
    done(body);
  };
  const forgetDeadline = deadlines.set(() => finish('backend_timed_out'));
  answer.read({
    data(chunk) {
      length += chunk.length;
      if (length > maxBytes) finish('backend_answer_too_large');
      else {
        pieces.add(chunk);
        if (length > smallBytes) {
          bytes ??= begin();
          bytes?.set(length);
        }
      }
    },
    ended(broken) {
      finish(broken ?? pieces.take());
    },
    dropped: end,
  });
  const announced = Number(answer.headers.get('content-length') ?? 0);
  if (announced <= smallBytes || announced > maxBytes) return;
  bytes = begin();
  bytes?.expect(announced);
}

/**
 * Begins to count the bytes of a response while it is read.
 * @param giveUp called if there was no room for them in time
 */
export function holdAnswer(
  answer: Pick<WireAnswer, 'stopReading'>,
  { held, account }: Holding,
  giveUp: () => void,
): IncomingBytes {
  let readOn: (() => void) | undefined;
  return held.incoming(account, {
    pause() {
      readOn ??= answer.stopReading();
    },
    resume() {
      readOn?.();
      readOn = undefined;
    },
    giveUp,
  });
}

/** Chunks shorter than this are copied together, because each chunk costs more than a hundred bytes. */
const shortBytes = 512;
const blockBytes = 4 * 1024;

const nothing = Buffer.alloc(0);

/** Collects the chunks of a body. However small the chunks are, they take up little more than their length (T-157). */
export class Pieces {
  #kept: Buffer[] = [];
  #block = nothing;
  #used = 0;

  /** True if there is no chunk. */
  get isEmpty(): boolean {
    return this.#kept.length === 0 && this.#used === 0;
  }

  /** Takes the next chunk, whose bytes must not be changed afterwards. */
  add(piece: Buffer): void {
    if (this.isEmpty || piece.length >= shortBytes) {
      this.#closeBlock();
      if (piece.length > 0) this.#kept.push(piece);
      return;
    }
    if (this.#used + piece.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
    }
    piece.copy(this.#block, this.#used);
    this.#used += piece.length;
  }

  /** Returns all bytes, and starts anew. */
  take(): Buffer {
    this.#closeBlock();
    const kept = this.#kept;
    this.#kept = [];
    return kept.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept);
  }

  #closeBlock(): void {
    if (this.#used > 0) this.#kept.push(this.#block.subarray(0, this.#used));
    // What is behind it goes on being used: only the part in front is given away.
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}

/** The head of a response that is not an interim one. */
interface AnswerHead {
  status: number;
  /** By names in lower case; values of a repeated name are joined by commas. A byte is a character. */
  headers: ReadonlyMap<string, string>;
}

/** Reason why there is no response. */
export interface WireFailure {
  reason: BackendFailure;
  /** The system's error code, for the log. */
  code?: string | undefined;
  /** Target of a redirect, for the log. */
  location?: string | undefined;
  /** Addresses with ports at which there is nobody, for the log. */
  address?: string | undefined;
  /** True if a connection from before turned out to be closed: the server may not have seen the request. */
  isStale?: boolean;
}

/** Reason why the body of a response is incomplete: it broke off, or it could not be read. */
export type BrokenBody = Extract<BackendFailure, 'backend_ended' | 'backend_not_http'>;

/** Receives the body of a response. */
export interface BodyTaker {
  /** Takes a chunk; the buffer is not reused. */
  data(bytes: Buffer): void;
  /**
   * The body is over. Called once, unless the response is dropped before.
   * @param broken the reason if the body is incomplete
   */
  ended(broken?: BrokenBody): void;
  /** The response was dropped: no more data comes. */
  dropped?(): void;
}

/** A response whose head has come. */
export interface WireAnswer extends AnswerHead {
  /** Reads the body. Must be called at once or never: a body without a reader is discarded. */
  read(taker: BodyTaker): void;
  /** Pauses the reading for some milliseconds; one pause at a time. */
  pause(forMs: number): void;
  /**
   * Pauses the reading.
   * @returns resumes it
   */
  stopReading(): () => void;
  /** Drops the response: its connection is closed if it is incomplete. */
  drop(): void;
}

const decoders: ReadonlyMap<string, () => Duplex & Zlib> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Takes an encoded body, and passes it on decoded. */
export interface DecodingTaker extends BodyTaker {
  /** Passes nothing on any more. */
  drop(): void;
}

function nameOf(coding: string | undefined): string {
  return coding?.trim().toLowerCase() ?? '';
}

/** Returns true if a body with this `Content-Encoding`, or without one, can be read. */
export function isReadableCoding(coding: string | undefined): boolean {
  const name = nameOf(coding);
  return name === '' || name === 'identity' || decoders.has(name);
}

/**
 * Decodes a body chunk by chunk: no more of it is unpacked than its reader takes (FA-46).
 * @param stopReading pauses the server's data
 * @returns resumes it
 * @param coding a readable `Content-Encoding`
 * @returns undefined if there is nothing to decode
 * @see RFC 9110 section 8.4
 */
export function createDecodingTaker(
  coding: string | undefined,
  taker: BodyTaker,
  stopReading: () => () => void,
): DecodingTaker | undefined {
  const decoder = decoders.get(nameOf(coding))?.();
  if (!decoder) return undefined;
  let isOver = false;
  const end = (...broken: Parameters<BodyTaker['ended']>): void => {
    if (isOver) return;
    isOver = true;
    taker.ended(...broken);
  };
  const drop = (): void => {
    isOver = true;
    decoder.destroy();
  };
  decoder.on('data', (bytes: Buffer) => {
    if (!isOver) taker.data(bytes);
  });
  decoder.on('end', () => end());
  decoder.on('error', () => end('backend_not_http'));
  return {
    data(bytes) {
      if (!decoder.write(bytes)) decoder.once('drain', stopReading());
    },
    ended(broken) {
      if (broken === undefined) decoder.end();
      else {
        decoder.destroy();
        end(broken);
      }
    },
    dropped() {
      drop();
      taker.dropped?.();
    },
    drop,
  };
}
