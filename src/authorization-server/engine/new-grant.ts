import type Provider from 'oidc-provider';
import { datedSecret, randomSecret } from '../../crypto/secret.ts';

/** Whose consent a grant is, and to which client. */
export interface NewGrant {
  accountId: string;
  clientId: string;
  /** For how long, in seconds. */
  expiresIn: number;
}

/**
 * Makes a consent record that is not saved yet. Its id begins with a date: most are used a moment after they were made, and
 * then those of one commit, and what hangs on them, stand side by side in storage.
 */
export function newGrant(provider: Provider, { accountId, clientId, expiresIn }: NewGrant) {
  const jti = datedSecret(Date.now(), randomSecret());
  return Object.assign(new provider.Grant({ accountId, clientId }), { jti, expiresIn });
}
