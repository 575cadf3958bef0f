import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { randomSecret } from '../../crypto/secret.ts';
import type { Metadata } from '../client-metadata.ts';
import type { SealedClientIds } from './sealed-client-ids.ts';

type Features = NonNullable<Configuration['features']>;

/** Secrets that went into sealed ids, until the engine asks for them in the same request. */
const sealedSecrets = new WeakMap<object, string>();

function makeSecret(): string {
  return `secret_${randomSecret(32)}`;
}

/** Seals the metadata that the engine has checked into a client id, with a secret if the client's method needs one. */
function sealClient(sealedIds: SealedClientIds, ctx: KoaContextWithOIDC): string {
  const metadata = ctx.oidc.body as Metadata;
  const secret = metadata.token_endpoint_auth_method === 'none' ? undefined : makeSecret();
  if (secret !== undefined) sealedSecrets.set(ctx, secret);
  return sealedIds.make(metadata, secret);
}

/**
 * Builds the engine's settings for registration and its management (RFC 7591, RFC 7592). A client whose id is its
 * registration gets no token to manage it: no stored registration could be changed.
 * @param sealedIds undefined if clients are stored at registration
 */
export function buildRegistrationFeature(
  sealedIds: SealedClientIds | undefined,
): Pick<Features, 'registration' | 'registrationManagement'> {
  return {
    registration: {
      enabled: true,
      issueRegistrationAccessToken: sealedIds === undefined,
      // No leading hyphen: ids and secrets are passed to command lines.
      idFactory: (ctx) => (sealedIds ? sealClient(sealedIds, ctx) : `client_${randomSecret(18)}`),
      secretFactory: (ctx) => sealedSecrets.get(ctx) ?? makeSecret(),
    },
    registrationManagement: { enabled: true, rotateRegistrationAccessToken: true },
  };
}
