import { datedSecret, hashSecret } from '../../crypto/secret.ts';

/** How far the clocks of two machines may be apart. */
export const maxClockSkewSeconds = 60;

/** What is kept, sealed, with every refresh token: the secret its successors are made of. */
export interface WithSuccessor {
  /** Absent in tokens from before. */
  successor?: string;
}

/**
 * Gives the token that follows a refresh token. It needs no place of its own for whoever asks a second time: who has the
 * first token and can open its row finds it again, and nobody else (T-165).
 * @param kind model name of the token
 * @param successor 256 random bits of that refresh token alone
 * @param atMs their date, epoch milliseconds: noted where that refresh token is used up
 */
export function successorOf(kind: 'AccessToken' | 'RefreshToken', successor: string, atMs: number): string {
  return datedSecret(atMs, hashSecret(`successor ${kind}`, successor));
}

/**
 * Says whether a refresh token was used so short a time ago that it may be sent again. A clock that was set back does not
 * open the window again, nor one where there is none (T-176).
 * @param consumedAt when it was used, epoch seconds
 * @param now epoch seconds
 */
export function isInGrace(consumedAt: number, now: number, graceSeconds: number): boolean {
  const age = now - consumedAt;
  return graceSeconds > 0 && age < graceSeconds && age >= -maxClockSkewSeconds;
}
