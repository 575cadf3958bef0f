import type { Adapter, AdapterPayload } from 'oidc-provider';
import { hashSecret, keyedDigest } from '../../crypto/secret.ts';
import {
  type ArtifactRow,
  accessTokenRetentionSeconds,
  type Change,
  usedRetentionSeconds,
} from '../../storage/artifacts.ts';
import { isExchanged } from '../token-exchange/actor.ts';
import { upstreamSessionOfAcr } from '../upstream-login/login-acr.ts';
import {
  type ClientAdapterOptions,
  type ClientSources,
  changeOfFirstConsent,
  createClientAdapter,
  createRegistrationTokenAdapter,
  describeForRequest,
} from './client-adapter.ts';
import {
  createRememberedPayloads,
  createSealedPayloads,
  grantKey,
  isInGrace,
  maxClockSkewSeconds,
} from './stored-rows.ts';
import { currentWriteSet, type Guard, record } from './write-set.ts';

/** Options of the storage adapter. */
export interface AdapterOptions extends ClientAdapterOptions {
  clientSources: ClientSources;
  /** Seconds during which a used refresh token gets its first response again; 0 for never. */
  refreshGraceSeconds: number;
  /** Keys of the digests under which user codes are stored; the first makes them, all find them. */
  userCodeKeys: readonly string[];
  /** Seconds that a page of an authorization request waits for the user. */
  interactionSeconds: number;
}

/**
 * An approval counts once (T-014, T-028), and a device code is claimed, approved or denied once (T-029); a login session
 * that was ended does not come back (T-119, T-166); of many who present one `jti` at once one is the first (T-049).
 */
const guards: Readonly<Record<string, Guard>> = {
  Interaction: 'unchanged',
  DeviceCode: 'unchanged',
  Session: 'present',
  ReplayDetection: 'absent',
};

/** Returns the adapter of a model. */
export type Adapters = (name: string) => Adapter;

/**
 * Creates the engine's adapters over our storage: ids are hashed, payloads sealed, and everything a request writes
 * goes into its write set. `consume` is a compare-and-set that is decided at commit.
 * @returns a function from model name to adapter, as `oidc-provider` takes it; of each name there is one
 */
export function createAdapters(options: AdapterOptions): Adapters {
  const made = new Map<string, Adapter>();
  return (name) => {
    const known = made.get(name);
    if (known) return known;
    const adapter = createAdapter(name, options);
    made.set(name, adapter);
    return adapter;
  };
}

function createAdapter(name: string, options: AdapterOptions): Adapter {
  switch (name) {
    case 'Client':
      return describeForRequest(createClientAdapter(options), options.clientSources);
    case 'RegistrationAccessToken':
      return createRegistrationTokenAdapter(options);
    case 'Grant':
      return grantAdapter(options);
    // An access token of a client for itself: found, watched and revoked like any other.
    case 'ClientCredentials':
      return artifactAdapter('AccessToken', options);
    default:
      return artifactAdapter(name, options);
  }
}

/** Returns the seconds that the row of an artifact is kept after the expiry in its payload. */
function keptBeyond(kind: string, interactionSeconds: number): number {
  switch (kind) {
    // Taken for a minute. The row stays as long as its two pages may: the approval uses it up (T-030).
    case 'PushedAuthorizationRequest':
      return 2 * interactionSeconds;
    // One that nobody used stays, too: within the minute it lived it could be redeemed after the clock was set back (T-176).
    case 'AuthorizationCode':
      return usedRetentionSeconds;
    case 'AccessToken':
      return accessTokenRetentionSeconds;
    default:
      return 0;
  }
}

/** Small artifacts that are read again soon after they are written. */
const readAgainSoon: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken']);

function artifactAdapter(
  kind: string,
  { artifacts, box, now, refreshGraceSeconds, userCodeKeys, interactionSeconds }: AdapterOptions,
): Adapter {
  const guard = guards[kind] ?? 'none';
  const payloads = (readAgainSoon.has(kind) ? createRememberedPayloads : createSealedPayloads)(box, kind);
  const keptSeconds = keptBeyond(kind, interactionSeconds);

  /** Within the grace window a used refresh token looks fresh: the commit then finds out and gives the first answer. */
  function looksConsumed({ consumedAt }: ArtifactRow): boolean {
    if (consumedAt === undefined) return false;
    return kind !== 'RefreshToken' || !isInGrace(consumedAt, now(), refreshGraceSeconds);
  }

  return {
    async upsert(value, payload, expiresIn = 0) {
      const id = hashSecret(kind, value);
      const accountId = kind === 'Session' ? payload.accountId : accountOfInteraction(payload);
      const upstreamSessionId = kind === 'Session' ? upstreamSessionOfAcr(payload.acr) : undefined;
      const [userCodeKey = ''] = userCodeKeys;
      const uid = payload.userCode ? userCodeDigest(userCodeKey, payload.userCode) : payload.uid;
      const clientId = clientOfArtifact(payload);
      await record(artifacts, (writes) =>
        writes.put(
          {
            type: 'put',
            kind,
            id,
            payload: payloads.seal(id, payload),
            expiresAt: now() + expiresIn + keptSeconds,
            ...(payload.grantId && kind !== 'Interaction'
              ? { grantId: grantKey(payload.grantId) }
              : undefined),
            ...(accountId ? { accountId } : undefined),
            ...(upstreamSessionId ? { upstreamSessionId } : undefined),
            ...(clientId ? { clientId } : undefined),
            ...(uid ? { uid } : undefined),
          },
          guard,
        ),
      );
    },

    async find(value) {
      const id = hashSecret(kind, value);
      const pending = currentWriteSet()?.pending(kind, id);
      if (pending) return pending === 'removed' ? undefined : payloads.open<AdapterPayload>(pending);
      const row = await artifacts.find(kind, id);
      if (!row) return undefined;
      const payload = payloads.open<AdapterPayload>(row);
      // A code of a clock further ahead is not one of ours (T-037).
      if (kind === 'AuthorizationCode' && Number(payload.iat) > now() + maxClockSkewSeconds) return undefined;
      currentWriteSet()?.noteRow(kind, id, row.revision, payload.grantId);
      return looksConsumed(row) ? { ...payload, consumed: row.consumedAt } : payload;
    },

    async findByUid(uid) {
      const row = await artifacts.findByUid(kind, uid);
      if (!row) return undefined;
      currentWriteSet()?.noteRow(kind, row.id, row.revision, undefined);
      return payloads.open<AdapterPayload>(row);
    },

    async findByUserCode(userCode) {
      for (const key of userCodeKeys) {
        const row = await artifacts.findByUid(kind, userCodeDigest(key, userCode));
        if (!row) continue;
        currentWriteSet()?.noteRow(kind, row.id, row.revision, undefined);
        const payload = payloads.open<AdapterPayload>(row);
        return looksConsumed(row) ? { ...payload, consumed: row.consumedAt } : payload;
      }
      return undefined;
    },

    async consume(value) {
      const change: Change = { type: 'consume', kind, id: hashSecret(kind, value), at: now() };
      await record(artifacts, (writes) => writes.add(change));
    },

    async destroy(value) {
      await record(artifacts, (writes) => writes.remove(kind, hashSecret(kind, value), guard));
    },

    async revokeByGrantId(grantId) {
      await record(artifacts, (writes) => writes.add({ type: 'removeGrant', id: grantKey(grantId) }));
    },
  };
}

/** User codes are short, so that a plain hash of one could be tried out: theirs has a key. */
function userCodeDigest(key: string, userCode: string): string {
  return keyedDigest(key, 'user code', userCode);
}

/**
 * Returns the account of an interaction, by its session or its finished login: a changed password ends interactions as
 * it ends sessions.
 */
function accountOfInteraction({ session, result }: AdapterPayload): string | undefined {
  return session?.accountId ?? result?.login?.accountId;
}

/** The client an artifact dies with beside its grant: the one that asks, acts for itself, or acts for somebody else. */
function clientOfArtifact(payload: AdapterPayload): string | undefined {
  const { params, kind, clientId } = payload;
  if (typeof params?.client_id === 'string') return params.client_id;
  return kind === 'ClientCredentials' || isExchanged(payload) ? clientId : undefined;
}

function grantAdapter(options: AdapterOptions): Adapter {
  const { artifacts, box, now } = options;
  const kind = 'Grant';
  const payloads = createRememberedPayloads(box, kind);
  return {
    async upsert(value, payload, expiresIn = 0) {
      const id = grantKey(value);
      const { accountId, clientId } = payload;
      if (!accountId || !clientId) throw new TypeError('a grant names its account and its client');
      const keepClient = await changeOfFirstConsent(options, clientId);
      await record(artifacts, (writes) => {
        if (keepClient) writes.add(keepClient);
        writes.add({
          type: 'putGrant',
          id,
          at: now(),
          accountId,
          clientId,
          payload: payloads.seal(id, payload),
          expiresAt: now() + expiresIn,
        });
      });
    },
    async find(value) {
      const id = grantKey(value);
      const row = await artifacts.findGrant(id);
      return row && payloads.open<AdapterPayload>(row);
    },
    async destroy(value) {
      await record(artifacts, (writes) => writes.add({ type: 'removeGrant', id: grantKey(value) }));
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    consume: async () => undefined,
    revokeByGrantId: async () => undefined,
  };
}
