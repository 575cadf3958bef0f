import { isDeepStrictEqual } from 'node:util';
import type { Adapter, AdapterPayload } from 'oidc-provider';
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
import { keepAcceptedRedirects } from '../client-metadata.ts';
import { ClientNotAdmitted } from '../registration/admission.ts';
import type { SealedClientIds } from '../registration/sealed-client-ids.ts';
import { createRememberedPayloads } from './sealed-payloads.ts';
import { openPayload, payloadContext } from './stored-names.ts';
import { currentWriteSet, record } from './write-set.ts';

/** What the adapters of clients work on. */
export interface ClientAdapterOptions {
  artifacts: ArtifactStore;
  clients: ClientStore;
  box: SealedBox;
  sealedIds: SealedClientIds;
  /** Redirect schemes that the operator allows beside those of known apps. */
  redirectSchemes: readonly string[];
  /** What a client that registers itself is at first, and again when it changes. */
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

/** What of an object outlives its storage. */
function asStored(metadata: object): unknown {
  return JSON.parse(JSON.stringify(metadata));
}

/** @returns the metadata of a stored client */
export function openClient(box: SealedBox, { id, payload }: ClientRow): AdapterPayload {
  return openPayload<AdapterPayload>(box, 'Client', { id, payload });
}

/**
 * Creates the engine's adapter of clients. A client that says something else about itself is not the one people
 * consented to: its grants and open pages end in the same commit, and where clients are approved it waits again (T-064).
 * One whose id is its registration is stored by its first consent.
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
 * The change that stores a client whose id is its registration, for the commit of its first consent.
 * @returns undefined where it is stored already, or has another kind of id
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
