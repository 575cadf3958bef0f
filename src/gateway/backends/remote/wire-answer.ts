import type { BackendFailure } from '../backend-errors.ts';

/** The head of a response that is not an interim one. */
export interface AnswerHead {
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

/** Takes the body of an answer. */
export interface BodyTaker {
  /** Takes part of it; its bytes are the taker's to keep. */
  data(bytes: Buffer): void;
  /**
   * Nothing more comes. Called once, unless the answer is dropped before.
   * @param broken why, if it is not whole
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
  /** Nobody needs the rest: nothing more is handed on, and its connection is closed if the response is incomplete. */
  drop(): void;
}
