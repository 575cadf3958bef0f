/** Proofs that were used already. */
export interface UsedProofs {
  /**
   * Notes that a proof was used, and tells whether this was the first time: of two who ask at once, one is told so.
   * @param id names the proof and its key
   * @param expiresAt epoch seconds; until then it has to be remembered
   */
  useOnce(id: string, expiresAt: number): Promise<boolean>;
}

/** Proofs kept at once, about 10 MB of them. */
const defaultMaxKept = 100_000;

/**
 * Creates a memory of used proofs for a resource server that is one process. When it is full of proofs that could still
 * be repeated, new ones are refused: forgetting one would let it in again.
 * @param now epoch seconds
 * @param maxKept proofs kept at once
 * @see RFC 9449 section 11.1
 */
export function createMemoryOfProofs(now: () => number, maxKept = defaultMaxKept): UsedProofs {
  const expiries = new Map<string, number>();
  const forgetExpired = (): void => {
    for (const [id, expiresAt] of expiries) {
      if (expiresAt > now()) return;
      expiries.delete(id);
    }
  };
  return {
    async useOnce(id, expiresAt) {
      forgetExpired();
      if (expiries.has(id) || expiries.size >= maxKept) return false;
      expiries.set(id, expiresAt);
      return true;
    },
  };
}
