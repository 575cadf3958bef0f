import type { AuthInfo } from '../oauth/auth-info.ts';

/** Tells when a caller's access ends while a stream of theirs is open (A12-04). */
export interface AccessWatch {
  /**
   * Calls `onEnd` once, within a second of the access token being revoked or expiring.
   * @returns stops watching
   */
  watch(authInfo: AuthInfo, onEnd: () => void): () => void;
}
