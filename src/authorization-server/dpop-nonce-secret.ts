import type { KeySet } from '../crypto/key-schedule.ts';
import { keyedDigest } from '../crypto/secret.ts';

/**
 * The secret that nonces for DPoP proofs follow from, at the token endpoint. Every process with the key file has the
 * same one, so that each knows the nonces of the others; a new key in front makes new nonces, and clients are told.
 * @returns 32 bytes
 * @see RFC 9449 section 8
 */
export function deriveNonceSecret({ cookies }: Pick<KeySet, 'cookies'>): Buffer {
  return Buffer.from(keyedDigest(cookies[0] ?? '', 'DPoP nonces', 'token endpoint'), 'base64url');
}
