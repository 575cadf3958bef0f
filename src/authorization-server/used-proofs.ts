import type { ArtifactStore } from '../storage/artifacts.ts';

/** Proofs that were used already. */
export interface UsedProofs {
  /**
   * Notes that a proof was used, and tells whether this was the first time, in any process on the database.
   * @param id a hash that names the proof and its key
   * @param expiresAt epoch seconds; until then it has to be remembered
   * @throws StorageUnavailable where that cannot be written
   */
  useOnce(id: string, expiresAt: number): Promise<boolean>;
}

const kind = 'DpopProof';

/**
 * Keeps used proofs in the database: a proof is good once for all processes, and after a restart as well. It costs each
 * request with a proof a commit, which requests that arrive together share; bearer tokens pay nothing.
 * @see RFC 9449 section 11.1
 */
export function createUsedProofs(artifacts: ArtifactStore): UsedProofs {
  return {
    async useOnce(id, expiresAt) {
      const put = { type: 'put', kind, id, payload: new Uint8Array(), expiresAt, ifAbsent: true } as const;
      return (await artifacts.commit([put])).committed;
    },
  };
}
