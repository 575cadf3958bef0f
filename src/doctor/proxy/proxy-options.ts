import type { Subject } from '../subject.ts';

/** What the checks of the way may use. */
export interface ProxyOptions {
  /** How long a silent stream is watched, in seconds; 75 unless told, which is beyond the usual 60 s. */
  idleSeconds?: number;
  /**
   * A bearer token for the server, where a login is at hand: streams and sessions are seen with one only. A probe, so
   * that a login is made once for all checks.
   */
  accessToken?: (subject: Subject) => Promise<string | undefined>;
  /** Told each second while a stream is watched. */
  onWait?: (secondsLeft: number) => void;
}
