import type { BackendFailure } from '../backend-errors.ts';

/** The head of a response that is not an interim one. */
export interface AnswerHead {
  status: number;
  /** By names in lower case; values of a repeated name are joined by commas. A byte is a character. */
  headers: ReadonlyMap<string, string>;
}

/** Why there is no answer. */
export interface WireFailure {
  reason: BackendFailure;
  /** What the system calls it, for the log. */
  code?: string | undefined;
  /** Where a redirect leads, for the log. */
  location?: string | undefined;
  /** Addresses with ports at which there is nobody, for the log. */
  address?: string | undefined;
  /** Whether a connection from before turned out to be closed: the server may not have seen the request. */
  isStale?: boolean;
}

/** Why the body of an answer is not whole: it broke off, or went on in no way that can be read. */
export type BrokenBody = Extract<BackendFailure, 'backend_ended' | 'backend_not_http'>;

/** Takes the body of an answer. */
export interface BodyTaker {
  /** Takes part of it; its bytes are the taker's to keep. */
  data(bytes: Buffer): void;
  /**
   * Nothing more comes. Called once, unless the answer is dropped before.
   * @param broken why, where it is not whole
   */
  ended(broken?: BrokenBody): void;
  /** Nobody needs the rest, and nothing more comes. */
  dropped?(): void;
}

/** An answer whose head has come. */
export interface WireAnswer extends AnswerHead {
  /** Has the body handed on. Called at once when the head is given, or never: a body nobody reads is thrown away. */
  read(taker: BodyTaker): void;
  /** Lets the server wait with the rest for a while, in milliseconds; one pause at a time. */
  pause(forMs: number): void;
  /** Lets the server wait with the rest. @returns reads on */
  stopReading(): () => void;
  /** Nobody needs the rest: nothing more is handed on, and its connection is closed where the answer is not whole. */
  drop(): void;
}
