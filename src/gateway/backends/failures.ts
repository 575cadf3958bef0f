import type { BackendStatus } from './gateway-backend.ts';

/** Keeps count of the failures of a backend. */
export interface Failures {
  /** @param reason a BackendFailure */
  note(reason: string): void;
  /** Whatever failed works again. */
  mended(): void;
  /** True if the last that was tried failed. */
  readonly isFailing: boolean;
  count(): BackendStatus['failures'];
}

/** Creates the count. @param now epoch seconds */
export function createFailures(now: () => number): Failures {
  let total = 0;
  let last: BackendStatus['failures']['last'];
  let isFailing = false;
  return {
    note(reason) {
      total += 1;
      last = { reason, at: now() };
      isFailing = true;
    },
    mended() {
      isFailing = false;
    },
    get isFailing() {
      return isFailing;
    },
    count: () => ({ count: total, ...(last && { last }) }),
  };
}
