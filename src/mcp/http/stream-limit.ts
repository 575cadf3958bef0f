import { type CallLimit, createCallLimit } from './limits.ts';
import type { Refusal } from './refusal.ts';

/** Counts open streams that belong to no session. */
export interface StreamLimit {
  /** Counts a stream that opens, or says why it may not. */
  begin(principal: string): Refusal | undefined;
  /** Counts a stream that closed. */
  end(principal: string): void;
}

/**
 * Creates the count of streams, of each principal and of all (T-144, T-145).
 */
export function createStreamLimit(maxPerPrincipal: number, maxTotal: number): StreamLimit {
  const own: CallLimit = createCallLimit(maxPerPrincipal);
  let total = 0;
  return {
    begin(principal) {
      if (total >= maxTotal) return { reason: 'sessions_exhausted', headers: { 'Retry-After': '60' } };
      if (!own.begin(principal)) return { reason: 'too_many_streams', headers: { 'Retry-After': '60' } };
      total++;
      return undefined;
    },
    end(principal) {
      own.end(principal);
      total--;
    },
  };
}
