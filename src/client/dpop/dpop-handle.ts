import * as oauth from 'oauth4webapi';
import { signingKey } from '../client-key.ts';
import type { ClientContext } from '../context.ts';
import { oauthClient } from '../exchange.ts';
import type { PrivateJwk } from '../stores/credential-store.ts';

/** How many keys a context remembers nonces for. */
const maxHandles = 100;

const handles = new WeakMap<ClientContext, Map<string, Promise<oauth.DPoPHandle>>>();

/** Members of a JWK that are public (RFC 7518 section 6, RFC 8037 section 2). */
function publicPart({ kty, alg, crv, x, y, n, e }: PrivateJwk): PrivateJwk {
  const members = Object.entries({ alg, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  return { kty, ...Object.fromEntries(members) };
}

/**
 * Gives what signs proofs with a key. It remembers the nonces that servers sent, by origin, as long as the context lives.
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
