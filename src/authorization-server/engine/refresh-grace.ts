/** Largest difference between the clocks of two machines, in seconds. */
export const maxClockSkewSeconds = 60;

/**
 * Returns true if a refresh token was used so recently that it may be sent again. A clock that was set back does not
 * open the window again, and a window of 0 seconds is never open (T-176).
 * @param consumedAt epoch seconds of its use
 * @param now epoch seconds
 */
export function isInGrace(consumedAt: number, now: number, graceSeconds: number): boolean {
  const age = now - consumedAt;
  return graceSeconds > 0 && age < graceSeconds && age >= -maxClockSkewSeconds;
}
