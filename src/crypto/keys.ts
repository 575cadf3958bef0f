import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/** Every secret of an installation that is not in its database. In each list the first is in use, the rest still verify. */
export interface KeySet {
  /** Seals what the database holds. */
  sealing: SealingKey[];
  /** Sign cookies and forms. */
  cookies: string[];
  /** Private JWKs that sign ID tokens (ES256). */
  signing: JWK[];
}

/** Makes the keys of a new installation. */
export async function generateKeySet(): Promise<KeySet> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return {
    sealing: [{ id: randomSecret(6), key: randomSecret(32) }],
    cookies: [randomSecret(32)],
    signing: [{ ...(await exportJWK(privateKey)), kid: randomSecret(12), alg: 'ES256', use: 'sig' }],
  };
}
