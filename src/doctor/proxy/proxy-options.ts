import type { Subject } from '../subject.ts';

/** Options of the proxy checks. */
export interface ProxyOptions {
  /** Seconds that a silent stream is watched; 75 by default, which is beyond the usual 60 s. */
  idleSeconds?: number;
  /**
   * A bearer token for the server, if a login is available: streams and sessions need one. A probe, so that all checks
   * share one login.
   */
  accessToken?: (subject: Subject) => Promise<string | undefined>;
  /** Told each second while a stream is watched. */
  onWait?: (secondsLeft: number) => void;
}
