import type { FullLimit } from '../backend-errors.ts';

/** Limits of what runs at a server by URL. */
export interface ConnectionLimits {
  /** The setting that the others are parts of. */
  maxConnections: number;
  /** Calls, and the same number of streams. */
  total: number;
  perAccount: number;
  /** Messages of one conversation that wait for its session to begin. */
  maxHeld: number;
}

/** Names the reached limit and its setting in the log. */
export function describeFull(
  full: FullLimit,
  { maxConnections, total, perAccount, maxHeld }: ConnectionLimits,
): string {
  const raise = `raise maxConnections of the backend, which is ${maxConnections}`;
  switch (full) {
    case 'calls':
      return `an account may have ${perAccount} calls under way and ${total} that wait: ${raise}`;
    case 'streams':
      return `an account may have ${perAccount} streams open, all together ${total}: ${raise}`;
    case 'session_start':
      return `${maxHeld} messages may wait for a session to begin, which no setting changes: look why the server begins it so late`;
  }
}
