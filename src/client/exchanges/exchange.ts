import type { Fetch } from '../context.ts';

/** One HTTP request and its answer, without secrets: tokens, codes, verifiers and keys are named, never held. */
export interface Exchange {
  /** Position in its record, from 1. */
  number: number;
  /** Epoch milliseconds. */
  startedAtMs: number;
  /** Until the head of the answer, in milliseconds; until the failure where none came. */
  durationMs: number;
  request: { method: string; url: string; headers: readonly (readonly [string, string])[]; body?: string };
  /** Absent where no answer came. */
  response?: {
    status: number;
    headers: readonly (readonly [string, string])[];
    /** As much as was read of it, up to a limit. */
    body?: string;
    /** Whether the body is longer than what is held. */
    truncated?: true;
  };
  /** Why no answer came. */
  failure?: string;
}

/** Writes down what goes through a fetch. */
export interface ExchangeRecord {
  /** The fetch that is written down. */
  fetch: Fetch;
  /** What went through so far, in the order it began. */
  exchanges: readonly Exchange[];
}
