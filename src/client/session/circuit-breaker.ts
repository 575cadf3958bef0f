/** Holds work back for a while after it failed too often. */
export interface CircuitBreaker {
  /** @returns whether work is held back now */
  isOpen(): boolean;
  /** Counts a failure. @returns whether work is held back from now on */
  strike(): boolean;
}

/** How much a breaker bears. */
export interface CircuitBreakerLimits {
  /** Failures within the window that make it hold back. */
  limit: number;
  /** Length of the window, in seconds. */
  windowSeconds: number;
  /** How long work is held back, in seconds; failures before count no more then. */
  restSeconds: number;
}

/**
 * Makes a breaker that holds nothing back yet.
 * @param limits how much it bears
 * @param now clock, epoch seconds
 */
export function createCircuitBreaker(limits: CircuitBreakerLimits, now: () => number): CircuitBreaker {
  const { limit, windowSeconds, restSeconds } = limits;
  let strikes: number[] = [];
  let openUntil = Number.NEGATIVE_INFINITY;
  const isOpen = (): boolean => now() < openUntil;
  return {
    isOpen,
    strike: () => {
      strikes = [...strikes.filter((at) => now() - at < windowSeconds), now()];
      if (strikes.length >= limit) {
        openUntil = now() + restSeconds;
        strikes = [];
      }
      return isOpen();
    },
  };
}
