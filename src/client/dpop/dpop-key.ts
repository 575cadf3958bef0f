import { exportJWK, generateKeyPair } from 'jose';
import { ClientError } from '../client-error.ts';
import { toPrivateJwk } from '../client-key.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { quote } from '../quote.ts';
import type { PrivateJwk } from '../stores/credential-store.ts';

/** What proofs are signed with, the best known first. */
const algorithms = ['ES256', 'ES384', 'ES512', 'Ed25519', 'PS256', 'RS256'] as const;

/**
 * Makes a key that tokens are bound to. Each credential has its own, so that no two logins can be linked by it.
 * @param offered `dpop_signing_alg_values_supported`; where absent, ES256 is taken
 * @throws ClientError `token_refused` where the server takes nothing that this client can sign with
 * @see RFC 9449 sections 4.2 and 5.1 (A13-09)
 */
export async function createDpopKey(offered: readonly string[] = ['ES256']): Promise<PrivateJwk> {
  const algorithm = algorithms.find((known) => offered.includes(known));
  if (algorithm === undefined)
    throw new ClientError(
      'token_refused',
      `The authorization server takes DPoP proofs signed with ${quote(offered.join(' '))} only; this client signs with ${algorithms.join(', ')}.`,
    );
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return toPrivateJwk(await exportJWK(privateKey), algorithm);
}

/**
 * Decides whether the token of a login is bound to a key: where the caller wants it, that of the login before was, or the
 * server takes no other.
 * @param found what discovery found
 * @param wanted what the caller chose; undefined leaves it to the login before and the server
 * @returns a new key, or undefined for a bearer token
 * @see RFC 9728 section 2 `dpop_bound_access_tokens_required`; RFC 9449 section 7.1 (A13-09, A13-11)
 */
export async function chooseDpopKey(
  found: Pick<DiscoveredServer, 'authorizationServer' | 'dpopKept' | 'dpopRequired'>,
  wanted: boolean | undefined,
): Promise<PrivateJwk | undefined> {
  if (!(wanted ?? found.dpopKept ?? found.dpopRequired)) return undefined;
  return createDpopKey(found.authorizationServer.dpop_signing_alg_values_supported);
}
