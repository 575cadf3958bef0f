import Provider, { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { isClientSecretHash, matchesClientSecret } from '../operator-clients/client-secret.ts';

/** A right secret that came the wrong way: only who has it learns which the right one is. */
class SecretByOtherMethod extends errors.OIDCProviderError {
  override name = 'SecretByOtherMethod';
  constructor(registered: string | undefined) {
    super(401, 'invalid_client');
    this.error_description = `this client is registered for ${registered}, and has to send its secret so`;
    this.expose = true;
  }
}

/** The method a secret came by: in the body or in the header. */
function methodOf({ oidc }: KoaContextWithOIDC): string {
  return oidc.params?.client_secret === undefined ? 'client_secret_basic' : 'client_secret_post';
}

/**
 * Has a provider compare client secrets as they are registered: with the hash, where only that is kept, and by the method of
 * the client alone, where the engine takes one for the other (RFC 7591 section 2, T-047).
 */
export function compareSecretsAsRegistered({ Client }: Provider): void {
  const comparePlain = Client.prototype.compareClientSecret;
  Client.prototype.compareClientSecret = async function compare(sent) {
    const stored = String(this.clientSecret);
    const matches = isClientSecretHash(stored)
      ? matchesClientSecret(stored, sent)
      : await comparePlain.call(this, sent);
    const ctx = Provider.ctx;
    if (matches && ctx && methodOf(ctx) !== this.tokenEndpointAuthMethod)
      throw new SecretByOtherMethod(this.tokenEndpointAuthMethod);
    return matches;
  };
}
