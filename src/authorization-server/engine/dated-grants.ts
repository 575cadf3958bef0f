import type Provider from 'oidc-provider';
import { datedSecret, randomSecret } from '../../crypto/secret.ts';

/**
 * Has the engine give consent records ids that begin with a date. Most are used a moment after they were made: then those
 * of one commit, and what hangs on them, stand side by side in storage.
 */
export function dateGrants(provider: Provider): void {
  Object.assign(provider.Grant.prototype, {
    generateTokenId: () => datedSecret(Date.now(), randomSecret()),
  });
}
