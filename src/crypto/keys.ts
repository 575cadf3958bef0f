import type { JWK } from 'jose';
// All of jose is nearly four times as many modules, and every command of an operator loads this one.
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/**
 * Every secret of an installation that is not in its database. In each list the first is in use, the rest still verify
 * or open, or will be in use soon. The lists of a key ring are live: keep the list, not what is in it.
 */
export interface KeySet {
  /** Seals what the database holds. */
  readonly sealing: readonly SealingKey[];
  /** Sign cookies and forms. */
  readonly cookies: readonly string[];
  /** Private JWKs that sign tokens (ES256). */
  readonly signing: readonly JWK[];
  /** Binds the rows of the audit log to each other, so that nobody without it can write one. */
  readonly audit: string;
}

/** @returns a fresh key that seals: 32 bytes under a random id */
export function generateSealingKey(): SealingKey {
  return { id: randomSecret(6), key: randomSecret(32) };
}

/** @returns a fresh private key for ES256 (RFC 7518 section 3.4), under a random key id */
export async function generateSigningKey(): Promise<JWK & { kid: string }> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomSecret(12), alg: 'ES256', use: 'sig' };
}

/** Makes the keys of a new installation. */
export async function generateKeySet(): Promise<KeySet> {
  return {
    sealing: [generateSealingKey()],
    cookies: [randomSecret(32)],
    signing: [await generateSigningKey()],
    audit: randomSecret(32),
  };
}
