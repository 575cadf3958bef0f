import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamLinkRow } from '../../storage/upstreams.ts';
import {
  ageOf,
  createLinkCheck,
  endsSoon,
  type LinkCheckOptions,
  type LinkCheckReason,
  type LinkCheckResult,
} from './link-check.ts';

/** The state of a link. */
export type LinkState = 'stands' | 'ended' | 'unavailable';

/** An access token of an upstream, for a call on behalf of its owner. */
export interface CallerToken {
  accessToken: string;
  scopes: readonly string[];
  /** Expiry, epoch seconds; absent if the upstream does not tell. */
  expiresAt?: number;
  /** The number of renewals: a caller whose token was rejected asks for a later one. */
  generation: number;
}

/** The status of links, for all who accept a token that depends on one. */
export interface LinkStatus {
  /**
   * Returns the state of a link. A fresh state is returned without a query; a stale one is returned, and
   * checked in the background; an expired or old one is checked first.
   * @throws StorageUnavailable if the database does not respond
   */
  check(linkId: string): LinkState | Promise<LinkState>;
  /** Returns the time after which a link that is unavailable should be checked again, in seconds. */
  retryAfterSeconds(linkId: string): number;
  /**
   * Keeps checking a link while a stream of its user is open, though no request asks for it.
   * @returns a function that releases it
   */
  hold(linkId: string): () => void;
  /**
   * Returns the access token of a link, renewed if it has expired.
   * @param reason with `after`: a token of a later generation is needed, because that one was rejected
   * @returns the same generation if the upstream confirms it; `none` if there is no usable token
   */
  tokensOf(linkId: string, reason?: LinkCheckReason): Promise<CallerToken | 'none' | 'ended' | 'unavailable'>;
  /** Checks links that are held or were used recently, and renews tokens before they expire. */
  tend(): void;
  /** Returns the number of known links, and of those whose upstream does not respond. */
  load(): { links: number; unreachable: number };
  /** Resolves when no check is running. */
  idle(): Promise<void>;
}

/** Options of {@link createLinkStatus}. */
export interface LinkStatusOptions extends LinkCheckOptions {
  /** Maximum wait of a request for a slow upstream, in milliseconds; then it continues within the grace. */
  patienceMs?: number;
  /**
   * First pause before an upstream that did not respond is asked again, in milliseconds; doubled each time.
   */
  firstPauseMs?: number;
}

/** The state of a link in this process. */
interface KnownLink {
  id: string;
  kind: Exclude<LinkCheckResult['kind'], 'ended'>;
  /** Without sealed data, which is read again when it is needed. */
  link: Omit<UpstreamLinkRow, 'profile' | 'tokens'>;
  /** Epoch seconds. */
  usedAt: number;
  /** Epoch seconds. */
  lookedAt: number;
  failures: number;
  /** Time of the next check. */
  nextTryMs: number;
}

interface Look {
  begunMs: number;
  sighting: Promise<LinkCheckResult>;
}

/** Maximum number of links in memory, about 1 KB each. */
const maxKnown = 10_000;

/** Maximum number of checks started by {@link LinkStatus.tend}. */
const maxTended = 32;

/** Time after its last use in which a link is still checked, in seconds. */
const tendedSeconds = 600;

/** Minimum time between two checks because of the expiry of a token, in seconds: it may not be renewable. */
const calmSeconds = 30;

/** Longest pause before an upstream that did not respond is asked again, in milliseconds. */
const maxPauseMs = 30_000;

/**
 * Creates the status of links from their rows and upstreams. Concurrent callers share one check of a link. An
 * upstream that is down is asked again with growing pauses. Its links count for the grace of its settings,
 * from the first failure in any process (A10-02, T-090).
 */
export function createLinkStatus(options: LinkStatusOptions): LinkStatus {
  const { store, vault, upstreams, events, now, patienceMs = 3_000, firstPauseMs = 1_000 } = options;
  const look = createLinkCheck(options);
  // A check belongs to no request: the request that started it may end before.
  const outsideOfRequests = AsyncLocalStorage.snapshot();
  const known = new Map<string, KnownLink>();
  const looks = new Map<string, Look>();
  const holds = new Map<string, number>();

  const settingsOf = ({ link }: KnownLink) => upstreams.find(link.upstream)?.settings;

  function remember(kind: KnownLink['kind'], link: UpstreamLinkRow): KnownLink {
    const before = known.get(link.id);
    known.delete(link.id);
    const failures = kind === 'unreachable' ? (before?.failures ?? 0) + 1 : 0;
    const pauseMs = failures === 0 ? 0 : Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1));
    const { profile: _profile, tokens: _tokens, ...bare } = link;
    const whole: KnownLink = {
      id: link.id,
      kind,
      link: bare,
      usedAt: before?.usedAt ?? now(),
      lookedAt: now(),
      failures,
      nextTryMs: performance.now() + pauseMs,
    };
    for (const id of known.keys()) {
      if (known.size < maxKnown) break;
      known.delete(id);
    }
    known.set(link.id, whole);
    return whole;
  }

  /** Ends a link that could not be verified for too long. */
  async function conclude(sighting: LinkCheckResult): Promise<LinkCheckResult> {
    if (sighting.kind === 'ended') return sighting;
    const { link } = sighting;
    const seconds = upstreams.find(link.upstream)?.settings.unverifiableSeconds;
    const isOver =
      sighting.kind === 'unverifiable' && seconds !== undefined && link.provedAt + seconds <= now();
    if (!isOver) return sighting;
    const ended = await store.endLink(link.id, { ifGeneration: link.generation, revoke: false });
    if (!ended) return sighting;
    events.ended(link, 'unverifiable', ended);
    return { kind: 'ended' };
  }

  async function see(linkId: string, reason?: LinkCheckReason): Promise<LinkCheckResult> {
    const sighting = await conclude(await look(linkId, reason));
    if (sighting.kind === 'ended') known.delete(linkId);
    else remember(sighting.kind, sighting.link);
    return sighting;
  }

  function start(linkId: string, reason?: LinkCheckReason): Look {
    const underWay = looks.get(linkId);
    if (underWay) return underWay;
    const begun: Look = {
      begunMs: performance.now(),
      sighting: outsideOfRequests(see, linkId, reason).finally(() => looks.delete(linkId)),
    };
    looks.set(linkId, begun);
    // Those who wait for the check get its error; if nobody does, the next caller starts a new one.
    begun.sighting.catch(() => undefined);
    return begun;
  }

  /** Returns the state without a check: a link whose upstream does not respond counts for the grace. */
  function withinGrace(entry: KnownLink): LinkState {
    const { unreachableSince = now() } = entry.link;
    const graceSeconds = settingsOf(entry)?.graceSeconds ?? 0;
    return now() < unreachableSince + graceSeconds ? 'stands' : 'unavailable';
  }

  async function awaitLook(entry: KnownLink): Promise<LinkState> {
    const { begunMs, sighting } = start(entry.id);
    const leftMs = Math.max(0, begunMs + patienceMs - performance.now());
    const stop = new AbortController();
    const seen = await Promise.race([
      sighting,
      sleep(leftMs, undefined, { signal: stop.signal }).catch(() => undefined),
    ]).finally(() => stop.abort());
    if (seen?.kind === 'ended') return 'ended';
    if (seen === undefined) return withinGrace(entry);
    return seen.kind === 'unreachable' ? withinGrace(known.get(entry.id) ?? entry) : 'stands';
  }

  function decide(entry: KnownLink): LinkState | Promise<LinkState> {
    const settings = settingsOf(entry);
    if (!settings) return 'unavailable';
    if (entry.kind === 'unreachable') {
      if (performance.now() >= entry.nextTryMs) start(entry.id);
      return withinGrace(entry);
    }
    const { provedAt } = entry.link;
    if (entry.kind === 'unverifiable')
      return provedAt + settings.unverifiableSeconds > now() ? 'stands' : awaitLook(entry);
    const age = ageOf(entry.link, settings.checkSeconds, now());
    if (age === 'stale') start(entry.id);
    return age === 'fresh' || age === 'stale' ? 'stands' : awaitLook(entry);
  }

  async function meet(linkId: string): Promise<LinkState> {
    const link = await store.find(linkId);
    if (!link) return 'ended';
    const entry = known.get(linkId) ?? remember('good', link);
    if (link.unreachableSince !== undefined && entry.kind === 'good') entry.kind = 'unreachable';
    return decide(entry);
  }

  /** Checks if a link without a current caller is due for a check. */
  function isDue(entry: KnownLink): boolean {
    const settings = settingsOf(entry);
    if (!settings) return false;
    const { link, kind, nextTryMs, lookedAt } = entry;
    if (kind === 'unreachable') return performance.now() >= nextTryMs;
    if (kind === 'unverifiable') return link.provedAt + settings.unverifiableSeconds <= now();
    if (ageOf(link, settings.checkSeconds, now()) !== 'fresh') return true;
    return lookedAt + calmSeconds <= now() && endsSoon(link, now());
  }

  return {
    check(linkId) {
      const entry = known.get(linkId);
      if (!entry) return meet(linkId);
      entry.usedAt = now();
      return decide(entry);
    },
    retryAfterSeconds(linkId) {
      const leftMs = (known.get(linkId)?.nextTryMs ?? 0) - performance.now();
      return Math.max(1, Math.ceil(leftMs / 1000));
    },
    hold(linkId) {
      holds.set(linkId, (holds.get(linkId) ?? 0) + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (holds.get(linkId) ?? 1) - 1;
        if (left === 0) holds.delete(linkId);
        else holds.set(linkId, left);
      };
    },
    async tokensOf(linkId, { after } = {}) {
      const isUsable = (link: UpstreamLinkRow): boolean =>
        (after === undefined || link.generation > after) &&
        (link.expiresAt === undefined || link.expiresAt > now());
      let link = await store.find(linkId);
      // A running check may have another reason, so that a second one is needed.
      for (let tries = 0; link && !isUsable(link) && tries < 2; tries++) {
        const isAsked = !looks.has(linkId);
        const sighting = await start(linkId, after === undefined ? {} : { after }).sighting;
        if (sighting.kind === 'ended') return 'ended';
        if (sighting.kind === 'unreachable') return 'unavailable';
        link = sighting.link;
        if (isAsked) break;
      }
      if (!link) return 'ended';
      const hasEnded = link.expiresAt !== undefined && link.expiresAt <= now();
      const tokens = hasEnded ? undefined : vault.open(link);
      if (!tokens) return 'none';
      const { expiresAt, generation } = link;
      const { accessToken, scopes } = tokens;
      return { accessToken, scopes, generation, ...(expiresAt === undefined ? undefined : { expiresAt }) };
    },
    tend() {
      for (const id of holds.keys())
        if (!known.has(id)) void Promise.resolve(meet(id)).catch(() => undefined);
      const usedSince = now() - tendedSeconds;
      for (const entry of known.values()) {
        if (looks.size >= maxTended) return;
        if ((entry.usedAt >= usedSince || holds.has(entry.id)) && isDue(entry)) start(entry.id);
      }
    },
    load: () => ({
      links: known.size,
      unreachable: [...known.values()].filter(({ kind }) => kind === 'unreachable').length,
    }),
    async idle() {
      await Promise.allSettled([...looks.values()].map(({ sighting }) => sighting));
    },
  };
}
