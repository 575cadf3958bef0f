/**
 * How long something may live that hangs on a consent: never past its end (T-045).
 * @param grantEnds when the consent ends, epoch seconds; undefined where there is none
 * @param seconds how long it would live otherwise
 * @param now epoch seconds
 * @returns seconds, at least 1
 */
export function secondsWithin(grantEnds: number | undefined, seconds: number, now: number): number {
  return grantEnds === undefined ? seconds : Math.max(1, Math.min(seconds, grantEnds - now));
}
