/** What samples say about a difference of two times, in milliseconds. */
export interface TimeDifference {
  /** Between these the difference of the medians lies, as far as the noise lets one say (99 of 100 times). */
  from: number;
  to: number;
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** A generator of numbers in [0, 1) that gives the same ones each time (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Estimates the difference of the medians of two lists of times by the bootstrap (percentile interval): robust against
 * a busy machine, which makes single samples late and the interval wide, not wrong.
 * @see Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13
 */
export function estimateDifference(a: readonly number[], b: readonly number[]): TimeDifference {
  const random = createRandom(20_261_122);
  const again = (values: readonly number[]): number[] =>
    values.map(() => values[Math.floor(random() * values.length)] ?? 0);
  const differences = Array.from({ length: 4000 }, () => medianOf(again(a)) - medianOf(again(b)));
  differences.sort((x, y) => x - y);
  return { from: differences[20] ?? 0, to: differences[3979] ?? 0 };
}

/** Whether the samples show a difference that is certainly larger than this, in either direction. */
export function isLargerThan({ from, to }: TimeDifference, ms: number): boolean {
  return from > ms || to < -ms;
}
