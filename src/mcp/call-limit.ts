/** Counts the calls a principal has in flight, over all transports of an endpoint. */
export interface CallLimit {
  /**
   * Counts a call that begins.
   * @param principal see `principalKey`
   * @returns whether it may begin; where it may not, it is not counted
   */
  begin(principal: string): boolean;
  /** Counts a call that ended. */
  end(principal: string): void;
}

/** A limit of calls that also tells when none runs. */
export interface CallCount extends CallLimit {
  /**
   * Resolves when no call runs.
   * @param patienceMs longest wait, in milliseconds; then it resolves whatever runs
   */
  whenNoneRuns(patienceMs: number): Promise<void>;
}

/**
 * Creates the count of calls in flight, so that one principal cannot keep a server busy alone.
 * @param max most calls of one principal at a time
 */
export function createCallLimit(max: number): CallCount {
  const running = new Map<string, number>();
  const waiting = new Set<() => void>();
  return {
    begin(principal) {
      const count = running.get(principal) ?? 0;
      if (count >= max) return false;
      running.set(principal, count + 1);
      return true;
    },
    end(principal) {
      const count = running.get(principal) ?? 0;
      if (count > 1) running.set(principal, count - 1);
      else running.delete(principal);
      if (running.size === 0) for (const resolve of waiting) resolve();
    },
    async whenNoneRuns(patienceMs) {
      if (running.size === 0 || patienceMs <= 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      const patience = setTimeout(resolve, patienceMs);
      await promise;
      clearTimeout(patience);
      waiting.delete(resolve);
    },
  };
}
