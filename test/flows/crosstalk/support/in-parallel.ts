/**
 * Does something a number of times, so many at once.
 * @param run is told the turn, from 0
 */
export async function inParallel(
  atOnce: number,
  count: number,
  run: (turn: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(atOnce, count) }, async () => {
      while (next < count) await run(next++);
    }),
  );
}
