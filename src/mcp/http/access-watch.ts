import type { AuthInfo } from '../../oauth/auth-info.ts';

/** Time for a caller to come back with a renewed token, after the access token expired. */
export interface Renewal {
  seconds: number;
  /** Called once when the token expires. */
  onExpiry(): void;
}

/** Calls back when a caller's access ends while a stream of the caller is open (A12-04). */
export interface AccessWatch {
  /**
   * Calls `onEnd` once, within a second of the access token being revoked or expiring. With a `renewal`, an expired token
   * ends the access only after that time, and a revoked one still at once.
   * @returns stops watching
   */
  watch(authInfo: AuthInfo, onEnd: () => void, renewal?: Renewal): () => void;
}
