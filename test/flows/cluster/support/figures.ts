/** Describes some times in words: their count, p50, p99 and maximum. @param times milliseconds */
export function describeTimes(times: readonly number[]): string {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (part: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);
  return `${sorted.length} times: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
}
