import { errors } from 'oidc-provider';
import { setBounded } from '../../collections/caches.ts';
import { FetchRefused } from '../../net/fetch-refused.ts';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';
import { createBudgets, type DocumentLimits, freshSeconds } from '../client-documents/budgets.ts';
import { DocumentRefused } from '../client-documents/document.ts';
import type { Limiters } from '../limits.ts';
import { type ClientKeySet, checkKeySet } from './key-set.ts';

/** Keys of a client that cannot be had. Its message is a sentence for the developer, in ASCII. */
export class ClientKeysRefused extends errors.OIDCProviderError {
  override name = 'ClientKeysRefused';
  /** Seconds after which they are asked for again. */
  readonly retryAfterSeconds: number;
  /** True if the keys may be the same as before, and only cannot be fetched now. */
  readonly mayPass: boolean;
  /**
   * @param url the URL of the keys; the message names its host
   * @param reason what is wrong, as the end of a sentence
   */
  constructor(
    url: string,
    reason: string,
    { retryAfterSeconds, mayPass, cause }: { retryAfterSeconds: number; mayPass: boolean; cause?: unknown },
  ) {
    super(401, 'invalid_client', { cause });
    this.error_description = `the keys of the client at ${URL.parse(url)?.host ?? ''} cannot be used: ${reason}`;
    this.expose = true;
    this.retryAfterSeconds = retryAfterSeconds;
    this.mayPass = mayPass;
  }
}

/** Options of the client keys. */
export interface ClientKeysOptions {
  /** Undefined if no keys are fetched. */
  fetch: GuardedFetch | undefined;
  limits: DocumentLimits;
  /** Creates the limiters of fetches; in memory by default. */
  createLimiter?: Limiters['ofLoad'];
  /** Epoch seconds. */
  now: () => number;
}

/** The wanted key of a key set. */
export interface WantedKey {
  /** The `kid` of the assertion, if it names one. */
  keyId: string | undefined;
  /** Address of the request, if it is known. */
  address: string | undefined;
}

/** Key sets that clients keep at a URL of their own (`jwks_uri`). */
export interface ClientKeys {
  /**
   * Returns the key set: as it was fetched while that is fresh and holds the wanted key, else fetched now.
   * @throws ClientKeysRefused
   */
  find(url: string, wanted: WantedKey): Promise<ClientKeySet>;
}

/**
 * Seconds that keys are used and failures are remembered; maximum number of cached sets, each of at most 64 KB (T-057).
 */
const bounds = { freshAtMost: 3_600, coolDown: 30, usedInTrouble: 3_600, sets: 200 } as const;

/** Answers of a host that is in trouble: they say nothing about the keys. */
const troubles = new Set([408, 429, 500, 502, 503, 504]);

interface Kept {
  triedAt: number;
  keys?: { set: ClientKeySet; fetchedAt: number; freshUntil: number };
  refusal?: ClientKeysRefused;
}

function holdsKey({ keys }: ClientKeySet, keyId: string | undefined): boolean {
  return keyId === undefined || keys.some(({ kid }) => kid === keyId);
}

/**
 * Creates the key sets of clients. A set is asked for again when it is no longer fresh, and, so that a client can change
 * its keys at any time, when it lacks the key that is wanted; never twice within half a minute, whatever came of it.
 * While the host is in trouble its keys are used for an hour more. Of many who want a set at once one fetches it
 * (T-057, T-076).
 */
export function createClientKeys({ fetch, limits, createLimiter, now }: ClientKeysOptions): ClientKeys {
  const budgets = createBudgets(limits, createLimiter);
  const kept = new Map<string, Kept>();
  const underWay = new Map<string, Promise<ClientKeySet>>();

  const refuse = (url: string, reason: string, mayPass: boolean, cause?: unknown): ClientKeysRefused =>
    new ClientKeysRefused(url, reason, { retryAfterSeconds: bounds.coolDown, mayPass, cause });

  async function download(url: string, isKnown: boolean, address: string | undefined) {
    if (!fetch) throw refuse(url, 'keys are not fetched here; register them as jwks', false);
    try {
      if (!isKnown && address !== undefined) await budgets.takeForAddress(address);
      await budgets.takeForHost(new URL(url).hostname, isKnown);
      return await fetch(new URL(url), (addresses) => budgets.takeForNetworks(addresses, isKnown), address);
    } catch (cause) {
      if (cause instanceof DocumentRefused) throw refuse(url, cause.message, true, cause);
      if (cause instanceof FetchRefused) throw refuse(url, cause.message, cause.mayPass, cause);
      throw cause;
    }
  }

  async function fetchAnew(url: string, isKnown: boolean, address: string | undefined): Promise<Kept> {
    const { status, headers, body } = await download(url, isKnown, address);
    if (status !== 200)
      throw refuse(url, `its server answered with status ${status}, not 200`, troubles.has(status));
    let set: unknown;
    try {
      set = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    } catch (cause) {
      throw refuse(url, 'the answer is not JSON in UTF-8', false, cause);
    }
    const fault = checkKeySet(set);
    if (fault) throw refuse(url, `the answer ${fault}`, false);
    const fetchedAt = now();
    const freshUntil = fetchedAt + Math.min(bounds.freshAtMost, freshSeconds(headers, fetchedAt));
    return { triedAt: fetchedAt, keys: { set: set as ClientKeySet, fetchedAt, freshUntil } };
  }

  async function renew(url: string, former: Kept | undefined, address: string | undefined) {
    try {
      const entry = await fetchAnew(url, former?.keys !== undefined, address);
      setBounded(kept, url, entry, bounds.sets);
      return (entry.keys as NonNullable<Kept['keys']>).set;
    } catch (refusal) {
      if (!(refusal instanceof ClientKeysRefused)) throw refusal;
      const keys = former?.keys;
      const goesOn = refusal.mayPass && keys && now() < keys.freshUntil + bounds.usedInTrouble;
      setBounded(kept, url, { triedAt: now(), refusal, ...(goesOn ? { keys } : undefined) }, bounds.sets);
      if (goesOn) return keys.set;
      throw refusal;
    }
  }

  return {
    async find(url, { keyId, address }) {
      const entry = kept.get(url);
      const sinceTry = entry ? now() - entry.triedAt : Number.POSITIVE_INFINITY;
      const keys = entry?.keys;
      if (keys && now() < keys.freshUntil && now() >= keys.fetchedAt && holdsKey(keys.set, keyId))
        return keys.set;
      if (sinceTry >= 0 && sinceTry < bounds.coolDown) {
        if (keys) return keys.set;
        if (entry?.refusal) throw entry.refusal;
      }
      const running = underWay.get(url);
      if (running) return running;
      const renewal = renew(url, entry, address).finally(() => underWay.delete(url));
      underWay.set(url, renewal);
      return renewal;
    },
  };
}
