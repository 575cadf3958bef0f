import { createLimiter, type Limit } from '../limits.ts';
import type { LimitName } from './endpoint-limit.ts';

/** Takes note that a request was refused, because a limit was reached. */
export type NoteReached = (
  /** What the limit counts by: the address, the principal. */
  key: string,
  /** Writes it down; not asked more than once for a key and window. */
  write: (details: { limit: LimitName }) => void,
) => Promise<void>;

/**
 * Creates the note of a limit. Each refused request is counted, and one in a window is written down for each key: who
 * sends a flood does not fill the log with it.
 * @param count counts a refused request, by the name of the limit
 */
export function createReached(
  limit: LimitName,
  { windowSeconds }: Limit,
  count: (limit: LimitName) => void,
): NoteReached {
  const written = createLimiter({ times: 1, windowSeconds });
  return async (key, write) => {
    count(limit);
    if ((await written.take(key)) === 0) write({ limit });
  };
}
