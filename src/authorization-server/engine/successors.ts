import { datedSecret, hashSecret } from '../../crypto/secret.ts';

/** Largest difference between the clocks of two machines, in seconds. */
export const maxClockSkewSeconds = 60;

/** The secret from which the successors of a refresh token are derived; stored sealed with the token. */
export interface WithSuccessor {
  /** Absent in tokens from before. */
  successor?: string;
}

/**
 * Derives the successor of a refresh token. The successor is not stored: a caller that has the first token and can open
 * its row derives it again, and nobody else can (T-165).
 * @param kind model name of the token
 * @param successor 256 random bits of that refresh token only
 * @param atMs issuance time of the successors, epoch milliseconds; stored with the used refresh token
 */
export function successorOf(kind: 'AccessToken' | 'RefreshToken', successor: string, atMs: number): string {
  return datedSecret(atMs, hashSecret(`successor ${kind}`, successor));
}

/**
 * Returns true if a used refresh token is still in its grace window. A clock that was set back does not open the window
 * again, and does not open one if none is configured (T-176).
 * @param consumedAt time of use, epoch seconds
 * @param now epoch seconds
 */
export function isInGrace(consumedAt: number, now: number, graceSeconds: number): boolean {
  const age = now - consumedAt;
  return graceSeconds > 0 && age < graceSeconds && age >= -maxClockSkewSeconds;
}
