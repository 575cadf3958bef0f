import type { ReadingToleranceName } from '../../oauth/reading-tolerances.ts';

/** One request of discovery and what came of it. */
export interface DiscoveryStep {
  /** What was looked for. */
  purpose: 'challenge' | 'protected_resource' | 'authorization_server' | 'default_endpoints';
  method: 'GET' | 'POST' | 'none';
  url: string;
  /** HTTP status; absent where no answer came or no request was made. */
  status?: number;
  /** `absent`: nothing there, the next place is asked. `refused`: something there that must not be used. */
  verdict: 'taken' | 'absent' | 'refused';
  /** Why, in words. */
  reason: string;
  /** Slips that were read all the same, by their names (docs/tolerances.md). */
  tolerated?: readonly ReadingToleranceName[];
  /** Of metadata that is for another server: what it names as `resource`. */
  resource?: string;
}
