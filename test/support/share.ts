/** The long tests run: `scripts/test --long`. */
export const isLong = process.env.GATEHOUSE_TEST_LONG !== undefined;

/**
 * Returns some cases of a table whose rule each case shows: one in so many, or all of them if the long tests run. The
 * same cases each day, so that a failure can be repeated.
 */
export function oneIn<T>(every: number, cases: readonly T[]): readonly T[] {
  return isLong ? cases : cases.filter((_, at) => at % every === 0);
}
