import { decodeProtectedHeader } from 'jose';
import type { Context } from 'koa';
import Provider, { type Adapter, type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';
import type { ClientKeys } from '../client-keys/client-keys.ts';
import { ClientKeysRefused } from '../client-keys/keys-refused.ts';
import { authMethodsMember, type Metadata } from '../client-metadata.ts';

/** Where clients come from beside the store, and what is fetched for them. */
export interface ClientSources {
  /** Clients that are described by documents; gives undefined for an id that is none of those. Absent where none are taken. */
  findDocument?: ((clientId: string) => Promise<Metadata | undefined>) | undefined;
  keys: ClientKeys;
  /** Grant types an operator can give a client that are off now: of what it registered they do not count (A13-11). */
  grantsOff: readonly string[];
}

/** The assertion of the request that the engine is serving; undefined where it has none. */
function assertionOf(ctx: Context | undefined): string | undefined {
  const assertion = (ctx as Partial<KoaContextWithOIDC> | undefined)?.oidc?.params?.client_assertion;
  return typeof assertion === 'string' ? assertion : undefined;
}

function keyIdOf(assertion: string): string | undefined {
  try {
    return decodeProtectedHeader(assertion).kid;
  } catch {
    return undefined;
  }
}

/** Puts the keys in the place of the URL where they are: the engine fetches nothing itself (F7, T-057). */
async function withKeys(
  metadata: Metadata,
  keys: ClientKeys,
  assertion: string,
  ctx: Context | undefined,
): Promise<Metadata> {
  const { jwks_uri, ...rest } = metadata;
  if (typeof jwks_uri !== 'string') return metadata;
  try {
    const address = ctx && String(ctx.state.clientAddress);
    return { ...rest, jwks: await keys.find(jwks_uri, { keyId: keyIdOf(assertion), address }) };
  } catch (refusal) {
    if (refusal instanceof ClientKeysRefused) ctx?.set('Retry-After', String(refusal.retryAfterSeconds));
    throw refusal;
  }
}

/** Leaves out grants that were switched off since: the engine would refuse the client for them, whatever it asks. */
function withoutGrants(metadata: Metadata, off: readonly string[]): Metadata {
  const { grant_types: registered } = metadata;
  if (!Array.isArray(registered)) return metadata;
  return { ...metadata, grant_types: registered.filter((grant) => !off.includes(grant)) };
}

/**
 * Lays over the engine's store of clients what depends on the request: clients that are described by documents; the one
 * method a client authenticates by, where it may choose (an assertion that is sent has to be good; with none it is
 * a public client, as ChatGPT's; AS-11); its keys, where it keeps them at a URL; its grants, as far as they are on.
 */
export function describeForRequest(
  adapter: Adapter,
  { findDocument, keys, grantsOff }: ClientSources,
): Adapter {
  async function describe(found: Metadata): Promise<Metadata> {
    const { [authMethodsMember]: methods, ...metadata } = withoutGrants(found, grantsOff);
    if (metadata.token_endpoint_auth_method !== 'private_key_jwt') return metadata;
    const ctx: Context | undefined = Provider.ctx;
    const assertion = assertionOf(ctx);
    if (assertion !== undefined) return withKeys(metadata, keys, assertion, ctx);
    if (!Array.isArray(methods) || !methods.includes('none')) return metadata;
    const { jwks: _jwks, jwks_uri: _uri, token_endpoint_auth_signing_alg: _alg, ...open } = metadata;
    return { ...open, token_endpoint_auth_method: 'none' };
  }

  return {
    ...adapter,
    async find(id) {
      const found = (await adapter.find(id)) ?? (await findDocument?.(id));
      return found && ((await describe(found as Metadata)) as AdapterPayload);
    },
  };
}
