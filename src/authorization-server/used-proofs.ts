import type { KeySet } from '../crypto/key-schedule.ts';
import { keyedDigest } from '../crypto/secret.ts';
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

/**
 * The secret that nonces for DPoP proofs follow from, at the token endpoint. Every process with the key file has the
 * same one, so that each knows the nonces of the others; a new key in front makes new nonces, and clients are told.
 * @returns 32 bytes
 * @see RFC 9449 section 8
 */
export function deriveNonceSecret({ cookies }: Pick<KeySet, 'cookies'>): Buffer {
  return Buffer.from(keyedDigest(cookies[0] ?? '', 'DPoP nonces', 'token endpoint'), 'base64url');
}
