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

/**
 * Creates the count of calls in flight, so that one principal cannot keep a server busy alone.
 * @param max most calls of one principal at a time
 */
export function createCallLimit(max: number): CallLimit {
  const running = new Map<string, number>();
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
    },
  };
}
