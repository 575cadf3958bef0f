import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamLinkRow } from '../../storage/upstreams.ts';
import { ageOf, endsSoon } from './link-age.ts';
import { createLook, type LookOptions, type LookReason, type Sighting } from './look.ts';

/** What is known of the standing of a link at its upstream. */
export type StandingWord = 'stands' | 'ended' | 'unavailable';

/** An access token of an upstream, for a call in the name of its owner. */
export interface CallerToken {
  accessToken: string;
  scopes: readonly string[];
  /** When it ends, epoch seconds; absent where the upstream does not say. */
  expiresAt?: number;
  /** Counts the renewals: who was refused with this one asks for a later one. */
  generation: number;
}

/** The standing of links, for whoever honours a token that hangs on one. */
export interface Standing {
  /**
   * Says whether a link stands. What is known and fresh is said at once, without any query; what is stale is said, and
   * asked again behind; what has ended or is too old is asked first.
   * @throws StorageUnavailable where the database does not answer
   */
  check(linkId: string): StandingWord | Promise<StandingWord>;
  /** When it is worth to ask again for a link that is unavailable, in seconds. */
  retryAfterSeconds(linkId: string): number;
  /**
   * Keeps an eye on a link while a stream is open for somebody who came through it, though nobody asks.
   * @returns lets go
   */
  hold(linkId: string): () => void;
  /**
   * Gives the access token of a link, renewed where it has ended.
   * @param reason with `after`, one of a later generation: that one was refused
   * @returns the same generation again where the upstream says that it is good; `none` where there is none that could be used
   */
  tokensOf(linkId: string, reason?: LookReason): Promise<CallerToken | 'none' | 'ended' | 'unavailable'>;
  /** Looks after links that are held or were used lately: asks again and renews ahead of the end. */
  tend(): void;
  /** How many links are known, and how many of them the upstream does not answer for. */
  load(): { links: number; unreachable: number };
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** What the standing is made of. */
export interface StandingOptions extends LookOptions {
  /** How long a request waits for an upstream that is slow, in milliseconds, before it goes on within the grace. */
  patienceMs?: number;
  /** The first pause before an upstream that did not answer is asked again, in milliseconds; doubled each time. */
  firstPauseMs?: number;
}

/** What this process knows of a link. */
interface KnownLink {
  id: string;
  kind: Exclude<Sighting['kind'], 'ended'>;
  /** Without what is sealed, which is read again when it is needed. */
  link: Omit<UpstreamLinkRow, 'profile' | 'tokens'>;
  /** Epoch seconds. */
  usedAt: number;
  /** Epoch seconds. */
  lookedAt: number;
  failures: number;
  /** Not asked again before. */
  nextTryMs: number;
}

interface Look {
  begunMs: number;
  sighting: Promise<Sighting>;
}

/** Most links remembered, about 1 KB each. */
const maxKnown = 10_000;

/** Most looks under way because of {@link Standing.tend}. */
const maxTended = 32;

/** How long after the last use a link is still looked after, in seconds. */
const tendedSeconds = 600;

/** A link is not looked at again so soon only because its token ends, in seconds: it may not be renewable. */
const calmSeconds = 30;

/** The longest pause before an upstream that did not answer is asked again, in milliseconds. */
const maxPauseMs = 30_000;

/**
 * Creates the standing of links over their rows and upstreams. One look at a link at a time for all who ask; an upstream
 * that is down is asked again with growing pauses, and what hangs on it stands for the grace of its settings, counted
 * from the first time it did not answer, in whichever process (A10-02, T-090).
 */
export function createStanding(options: StandingOptions): Standing {
  const { store, vault, upstreams, events, now, patienceMs = 3_000, firstPauseMs = 1_000 } = options;
  const look = createLook(options);
  // A look is nobody's request: the one that began it may be over, or come to nothing.
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

  /** Ends what could not be verified for too long. */
  async function conclude(sighting: Sighting): Promise<Sighting> {
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

  async function see(linkId: string, reason?: LookReason): Promise<Sighting> {
    const sighting = await conclude(await look(linkId, reason));
    if (sighting.kind === 'ended') known.delete(linkId);
    else remember(sighting.kind, sighting.link);
    return sighting;
  }

  function start(linkId: string, reason?: LookReason): Look {
    const underWay = looks.get(linkId);
    if (underWay) return underWay;
    const begun: Look = {
      begunMs: performance.now(),
      sighting: outsideOfRequests(see, linkId, reason).finally(() => looks.delete(linkId)),
    };
    looks.set(linkId, begun);
    // Those who wait for it see the failure; where nobody does, the next one who asks looks again.
    begun.sighting.catch(() => undefined);
    return begun;
  }

  /** Without a look: what hangs on a link whose upstream does not answer stands for the grace. */
  function withinGrace(entry: KnownLink): StandingWord {
    const { unreachableSince = now() } = entry.link;
    const graceSeconds = settingsOf(entry)?.graceSeconds ?? 0;
    return now() < unreachableSince + graceSeconds ? 'stands' : 'unavailable';
  }

  async function awaitLook(entry: KnownLink): Promise<StandingWord> {
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

  function decide(entry: KnownLink): StandingWord | Promise<StandingWord> {
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

  async function meet(linkId: string): Promise<StandingWord> {
    const link = await store.find(linkId);
    if (!link) return 'ended';
    const entry = known.get(linkId) ?? remember('good', link);
    if (link.unreachableSince !== undefined && entry.kind === 'good') entry.kind = 'unreachable';
    return decide(entry);
  }

  /** Whether a link that nobody asks for just now has to be looked at. */
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
      // A look that was under way for another reason may not have been the one that is wanted.
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
