import { exportJWK, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
import { ClientError } from '../client-error.ts';
import { signingKey, toPrivateJwk } from '../client-key.ts';
import type { ClientContext } from '../context.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { oauthClient } from '../oauth-client.ts';
import { quote } from '../quote.ts';
import type { PrivateJwk } from '../stores/credential-store.ts';

/** Maximum number of keys for which a context remembers nonces. */
const maxHandles = 100;

const handles = new WeakMap<ClientContext, Map<string, Promise<oauth.DPoPHandle>>>();

/** Returns the public members of a JWK (RFC 7518 section 6, RFC 8037 section 2). */
function publicPart({ kty, alg, crv, x, y, n, e }: PrivateJwk): PrivateJwk {
  const members = Object.entries({ alg, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  return { kty, ...Object.fromEntries(members) };
}

/**
 * Returns the oauth4webapi handle that signs proofs with a key. It remembers the nonces of servers, by
 * origin, for the lifetime of the context.
 * @param context clock of the proofs
 * @param key the key of a credential
 * @throws ClientError `bad_key`
 * @see RFC 9449 sections 4.2, 8 and 9 (A13-09)
 */
export function dpopHandle(context: ClientContext, key: PrivateJwk): Promise<oauth.DPoPHandle> {
  const known = handles.get(context) ?? new Map<string, Promise<oauth.DPoPHandle>>();
  handles.set(context, known);
  const name = JSON.stringify(publicPart(key));
  const held = known.get(name) ?? makeHandle(context, key);
  known.delete(name);
  known.set(name, held);
  const [oldest] = known.keys();
  if (known.size > maxHandles && oldest !== undefined) known.delete(oldest);
  return held;
}

async function makeHandle(context: ClientContext, key: PrivateJwk): Promise<oauth.DPoPHandle> {
  const [privateKey, publicKey] = await Promise.all([signingKey(key), signingKey(publicPart(key))]);
  return oauth.DPoP(oauthClient(context, 'proof'), { privateKey, publicKey });
}

/** Algorithms for proofs, in order of preference. */
const algorithms = ['ES256', 'ES384', 'ES512', 'Ed25519', 'PS256', 'RS256'] as const;

/**
 * Creates a key to bind tokens to. Each credential has its own, so that no two logins can be linked by it.
 * @param offered `dpop_signing_alg_values_supported`; ES256 if absent
 * @throws ClientError `token_refused` if the server supports no algorithm of this client
 * @see RFC 9449 sections 4.2 and 5.1 (A13-09)
 */
export async function createDpopKey(offered: readonly string[] = ['ES256']): Promise<PrivateJwk> {
  const algorithm = algorithms.find((known) => offered.includes(known));
  if (algorithm === undefined)
    throw new ClientError(
      'token_refused',
      `The authorization server accepts only DPoP proofs signed with ${quote(offered.join(' '))}; this client signs with ${algorithms.join(', ')}.`,
    );
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return toPrivateJwk(await exportJWK(privateKey), algorithm);
}

/**
 * Creates a key for the token of a login if the caller wants it, the earlier token was bound, or the server
 * requires it.
 * @param found the result of discovery
 * @param wanted the choice of the caller; undefined follows the earlier login and the server
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
