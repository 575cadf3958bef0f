import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamLinkRow, UpstreamStore } from '../../storage/upstreams.ts';
import type { UpstreamTokens } from '../upstream.ts';
import { UpstreamFault } from '../upstream-fault.ts';
import type { Vault } from '../vault.ts';
import type { BondEvents } from './bond-events.ts';
import type { BondUpstream, BondUpstreams } from './bond-upstreams.ts';
import { ageOf, endsSoon } from './link-age.ts';

/** What was seen of a link, with its row as it is then. */
export type Sighting =
  /** The upstream says that it stands, now or lately enough. */
  | { kind: 'good'; link: UpstreamLinkRow }
  /** There is nothing to ask the upstream with any more. */
  | { kind: 'unverifiable'; link: UpstreamLinkRow }
  /** The upstream could not say anything. */
  | { kind: 'unreachable'; link: UpstreamLinkRow }
  /** The upstream said no, or the link has ended otherwise; what hung on it is gone. */
  | { kind: 'ended' };

/** What a look is made of. */
export interface LookOptions {
  store: Pick<
    UpstreamStore,
    'find' | 'claimRefresh' | 'putTokens' | 'noteProved' | 'noteUnreachable' | 'endLink'
  >;
  vault: Pick<Vault, 'open' | 'sealTokens'>;
  upstreams: BondUpstreams;
  events: BondEvents;
  /** Epoch seconds. */
  now: () => number;
}

/** Why a link is looked at. */
export interface LookReason {
  /** The generation whose access token was refused somewhere: a later one is wanted, or the upstream's word on it. */
  after?: number;
}

/**
 * How long one process may take to renew tokens before another one may, in seconds: longer than the requests of a renewal
 * last together, and than its tries to write. Two that send one refresh token are a theft to an upstream that rotates.
 */
const leaseSeconds = 45;

/** How often is looked whether another process has renewed the tokens, in milliseconds. */
const otherPauseMs = 50;

/** How often and how long after one another renewed tokens are written again where the database takes none. */
const keepRetriesMs = [100, 300, 1_000, 3_000] as const;

type Known = { link: UpstreamLinkRow; upstream: BondUpstream; tokens: UpstreamTokens };

/**
 * Creates the look at a link: its row, and the upstream where the row is not enough. A token that has ended or is about
 * to is renewed, by one process of all on the database; else the upstream is asked whether the one there is stands
 * (A10-02, T-090). What the upstream refuses for good ends the link, with every grant, token and login that came
 * through it; what it does not answer is noted, and ends nothing.
 * @returns a function of a link's id
 * @throws StorageUnavailable where the database does not answer
 */
export function createLook(options: LookOptions): (linkId: string, reason?: LookReason) => Promise<Sighting> {
  const { store, vault, upstreams, events, now } = options;

  async function seeAgain(linkId: string): Promise<Sighting> {
    const link = await store.find(linkId);
    return link ? { kind: 'good', link } : { kind: 'ended' };
  }

  async function judge(fault: unknown, { link, upstream }: Known): Promise<Sighting> {
    if (!(fault instanceof UpstreamFault)) throw fault;
    if (fault.kind !== 'ended') {
      await store.noteUnreachable(link.id, link.generation, now());
      events.unavailable(upstream.name, fault);
      return { kind: 'unreachable', link: { ...link, unreachableSince: link.unreachableSince ?? now() } };
    }
    const ended = await store.endLink(link.id, { ifGeneration: link.generation, revoke: false });
    if (!ended) return seeAgain(link.id);
    events.ended(link, fault.reason, ended);
    return { kind: 'ended' };
  }

  /** The old tokens may be worth nothing any more: the new ones are not given up easily. */
  async function keep({ link }: Known, tokens: UpstreamTokens, provedAt = now()): Promise<void> {
    const { expiresAt } = tokens;
    for (let attempt = 0; ; attempt++) {
      const kept = {
        upstream: link.upstream,
        accountId: link.accountId,
        tokens: vault.sealTokens(link.id, tokens),
        ...(expiresAt === undefined ? undefined : { expiresAt }),
        provedAt,
      };
      try {
        await store.putTokens(link.id, link.generation, kept);
        return;
      } catch (error) {
        const pauseMs = keepRetriesMs[attempt];
        if (pauseMs === undefined) throw error;
        await sleep(pauseMs);
      }
    }
  }

  /** Another process renews: its word is awaited. */
  async function awaitOther({ link }: Known): Promise<Sighting> {
    const deadline = performance.now() + leaseSeconds * 1000;
    while (performance.now() < deadline) {
      await sleep(otherPauseMs);
      const seen = await store.find(link.id);
      if (!seen) return { kind: 'ended' };
      if (seen.generation !== link.generation) return { kind: 'good', link: seen };
      if (seen.unreachableSince !== undefined) return { kind: 'unreachable', link: seen };
    }
    return { kind: 'unreachable', link };
  }

  /**
   * Keeps a refresh token that came without an access token, and renews with it: the one before may be used up (FA-25).
   * A second answer like this ends the link.
   */
  async function renewWith(successor: string, known: Known): Promise<Sighting> {
    const tokens = { ...known.tokens, refreshToken: successor };
    await keep(known, tokens, known.link.provedAt);
    const link = await store.find(known.link.id);
    if (link?.generation !== known.link.generation + 1) return seeAgain(known.link.id);
    return renew({ ...known, link, tokens }, true);
  }

  async function renew(known: Known, isSecond = false): Promise<Sighting> {
    const { link, upstream, tokens } = known;
    if (!(await store.claimRefresh(link.id, link.generation, now(), leaseSeconds))) return awaitOther(known);
    let renewed: UpstreamTokens;
    try {
      renewed = await upstream.refresh(tokens);
    } catch (fault) {
      const successor = fault instanceof UpstreamFault ? fault.successor : undefined;
      const isNew = successor !== undefined && successor !== tokens.refreshToken;
      return isNew && !isSecond ? renewWith(successor, known) : judge(fault, known);
    }
    events.refreshed(upstream.name);
    await keep(known, renewed);
    return seeAgain(link.id);
  }

  async function prove(known: Known): Promise<Sighting> {
    const { link, upstream, tokens } = known;
    const canRefresh = tokens.refreshToken !== undefined;
    try {
      if (!(await upstream.check(tokens))) return canRefresh ? renew(known) : { kind: 'unverifiable', link };
    } catch (fault) {
      // The access token alone may have been withdrawn: the refresh token has the last word.
      const isRefused = fault instanceof UpstreamFault && fault.kind === 'ended';
      return isRefused && canRefresh ? renew(known) : judge(fault, known);
    }
    events.available(upstream.name);
    await store.noteProved(link.id, link.generation, now());
    return seeAgain(link.id);
  }

  return async (linkId, { after } = {}) => {
    const link = await store.find(linkId);
    if (!link) return { kind: 'ended' };
    const upstream = upstreams.find(link.upstream);
    if (!upstream) return { kind: 'unreachable', link };
    const age = ageOf(link, upstream.settings.checkSeconds, now());
    const isRefused = after !== undefined && link.generation <= after;
    const isEnding = endsSoon(link, now());
    if (age === 'fresh' && !isRefused && !isEnding) return { kind: 'good', link };
    const tokens = vault.open(link);
    if (!tokens) return { kind: 'unverifiable', link };
    const known = { link, upstream, tokens };
    const canRefresh = tokens.refreshToken !== undefined;
    if (canRefresh && (age === 'expired' || isRefused || isEnding)) return renew(known);
    if (age === 'fresh' && !isRefused) return { kind: 'good', link };
    return age === 'expired' ? { kind: 'unverifiable', link } : prove(known);
  };
}
