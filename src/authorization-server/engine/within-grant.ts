/**
 * Limits a lifetime to the end of the consent that it depends on (T-045).
 * @param grantEnds end of the consent, epoch seconds; undefined if there is none
 * @param seconds lifetime without that limit
 * @param now epoch seconds
 * @returns seconds, at least 1
 */
export function secondsWithin(grantEnds: number | undefined, seconds: number, now: number): number {
  return grantEnds === undefined ? seconds : Math.max(1, Math.min(seconds, grantEnds - now));
}
