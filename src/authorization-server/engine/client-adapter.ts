import { isDeepStrictEqual } from 'node:util';
import { decodeProtectedHeader } from 'jose';
import type { Context } from 'koa';
import Provider, { type Adapter, type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import {
  type ClientChange,
  type ClientRow,
  type ClientStatus,
  type ClientStore,
  maxUnusedClients,
} from '../../storage/clients.ts';
import { type ClientKeys, ClientKeysRefused } from '../client-keys/client-keys.ts';
import { authMethodsMember, keepAcceptedRedirects, type Metadata } from '../client-metadata.ts';
import { ClientNotAdmitted } from '../registration/admission.ts';
import type { SealedClientIds } from '../registration/sealed-client-ids.ts';
import { createRememberedPayloads, openPayload, payloadContext } from './stored-rows.ts';
import { currentWriteSet, record } from './write-set.ts';

/** Options of the adapters for clients. */
export interface ClientAdapterOptions {
  artifacts: ArtifactStore;
  clients: ClientStore;
  box: SealedBox;
  sealedIds: SealedClientIds;
  /** Redirect schemes that the operator allows beside those of known apps. */
  redirectSchemes: readonly string[];
  /** Status of a client that registers itself, at first and after each change. */
  newClientStatus: 'approved' | 'pending';
  /** Epoch seconds. */
  now: () => number;
}

const nothing = {
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  revokeByGrantId: async () => undefined,
} as const;

function sealClient(box: SealedBox, id: string, metadata: object): Buffer {
  return box.seal(JSON.stringify(metadata), payloadContext('Client', id));
}

/** Returns the members of an object that survive storage. */
function asStored(metadata: object): unknown {
  return JSON.parse(JSON.stringify(metadata));
}

/** @returns the metadata of a stored client */
function openClient(box: SealedBox, { id, payload }: ClientRow): AdapterPayload {
  return openPayload<AdapterPayload>(box, 'Client', { id, payload });
}

/**
 * Creates the engine's adapter of clients. If a client changes its metadata, it is not the client that users consented
 * to: its grants and open interactions end in the same commit, and it needs a new approval where clients are approved
 * (T-064). A client whose id contains its registration is stored at its first consent.
 */
export function createClientAdapter(options: ClientAdapterOptions): Adapter {
  const { artifacts, clients, box, sealedIds, redirectSchemes, newClientStatus, now } = options;
  const payloads = createRememberedPayloads(box, 'Client');

  function statusOfChanged({ status }: ClientRow): ClientStatus {
    return status === 'approved' ? newClientStatus : status;
  }

  return {
    ...nothing,
    async upsert(id, payload) {
      if (sealedIds.isSealed(id)) return;
      const before = await clients.find(id);
      const isChanged =
        before !== undefined && !isDeepStrictEqual(openClient(box, before), asStored(payload));
      const status =
        before === undefined ? newClientStatus : isChanged ? statusOfChanged(before) : before.status;
      const createdAt = payload.client_id_issued_at ?? now();
      await record(artifacts, (writes) => {
        const client = { id, payload: sealClient(box, id, payload), createdAt, status };
        writes.add({ type: 'putClient', client, maxUnused: maxUnusedClients });
        if (isChanged) writes.add({ type: 'endClient', id });
      });
    },
    async find(id) {
      const row = await clients.find(id);
      if (row?.status === 'pending' || row?.status === 'denied') throw new ClientNotAdmitted(id, row.status);
      if (row) {
        const payload = payloads.open<AdapterPayload>(row);
        return row.origin === 'registered' ? keepAcceptedRedirects(payload, redirectSchemes) : payload;
      }
      if (!sealedIds.isSealed(id) || (await clients.wasRemoved(id))) return undefined;
      const sealed = sealedIds.open(id) as AdapterPayload | undefined;
      return sealed && keepAcceptedRedirects(sealed, redirectSchemes);
    },
    async destroy(id) {
      await record(artifacts, (writes) => writes.add({ type: 'removeClient', id }));
    },
  };
}

/**
 * Returns the change that stores a client whose id is its sealed registration, for the commit of its first consent.
 * @returns undefined if the client is stored already, or if its id is of another kind
 */
export async function changeOfFirstConsent(
  { clients, sealedIds, box }: ClientAdapterOptions,
  clientId: string,
): Promise<ClientChange | undefined> {
  if (!sealedIds.isSealed(clientId) || (await clients.find(clientId))) return undefined;
  const metadata = sealedIds.open(clientId);
  if (!metadata) return undefined;
  const payload = sealClient(box, clientId, metadata);
  return { type: 'keepClient', client: { id: clientId, payload, createdAt: metadata.client_id_issued_at } };
}

/**
 * Creates the engine's adapter of registration access tokens (RFC 7592 section 3): a client has one, which lives and
 * dies with its row, and is replaced by the next one. Of two requests with one token that change something, the
 * second finds it replaced at its commit.
 */
export function createRegistrationTokenAdapter({ artifacts, clients }: ClientAdapterOptions): Adapter {
  const kind = 'RegistrationAccessToken';
  return {
    ...nothing,
    async upsert(value, { clientId = '' }) {
      const hash = hashSecret(kind, value);
      await record(artifacts, (writes) => writes.add({ type: 'setRegistrationToken', clientId, hash }));
    },
    async find(value) {
      const hash = hashSecret(kind, value);
      const row = await clients.findByToken(hash);
      if (!row) return undefined;
      currentWriteSet()?.add({ type: 'requireRegistrationToken', clientId: row.id, hash });
      return { kind, jti: value, clientId: row.id, iat: row.createdAt };
    },
    destroy: async () => undefined,
  };
}

/** Sources of clients beside the store, and fetched data about them. */
export interface ClientSources {
  /**
   * Finds a client that a metadata document describes; undefined for any other id. Absent if documents are disabled.
   */
  findDocument?: ((clientId: string) => Promise<Metadata | undefined>) | undefined;
  keys: ClientKeys;
  /** Grant types an operator can give a client that are off now: of what it registered they do not count (A13-11). */
  grantsOff: readonly string[];
}

/** Returns the client assertion of the request that the engine handles; undefined if it has none. */
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

/** Replaces the URL of the keys by the keys: the engine fetches nothing itself (T-057). */
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
 * Extends the engine's client store by data that depends on the request: clients described by documents; the one
 * authentication method of the request, if the client may choose (an assertion that is sent must be valid; without one
 * the client is public, as ChatGPT is; AS-11); the keys of a client that publishes them at a URL; its grant types, as
 * far as they are enabled.
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
