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

/**
 * Resolves when something has ended, or when the time for it is over.
 * @param patienceMs maximum wait, in milliseconds
 */
export async function endedWithin(patienceMs: number, ending: Promise<unknown> | undefined): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patienceMs);
  await Promise.race([ending, late]).finally(() => clearTimeout(timer));
}

/** Lets others wait until nothing runs. */
export class Idleness {
  readonly #isIdle: () => boolean;
  readonly #waiting = new Set<() => void>();

  /** @param isIdle returns true if nothing runs */
  constructor(isIdle: () => boolean) {
    this.#isIdle = isIdle;
  }

  /** Takes note that something has ended. */
  ended(): void {
    if (this.#isIdle()) for (const resolve of this.#waiting) resolve();
  }

  /**
   * Resolves when nothing runs.
   * @param patienceMs maximum wait, in milliseconds; then it resolves although something runs
   */
  async wait(patienceMs: number): Promise<void> {
    if (this.#isIdle() || patienceMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await endedWithin(patienceMs, promise);
    this.#waiting.delete(resolve);
  }
}
