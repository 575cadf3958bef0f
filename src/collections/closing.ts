/**
 * Ends parts one after the other. Each is ended, also if one before it has failed.
 * @throws the first error, after the last part
 */
export async function endInOrder(ends: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends)
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}

/**
 * Waits until all parts have ended, also if one of them fails.
 * @throws the first error, after the last part
 */
export async function allEnded(ends: Iterable<unknown>): Promise<void> {
  const failed = (await Promise.allSettled(ends)).find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
