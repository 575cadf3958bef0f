import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamLinkRow, UpstreamStore } from '../../storage/upstreams.ts';
import type { Upstream, UpstreamTokens } from '../upstream.ts';
import { UpstreamFault } from '../upstream-fault.ts';
import type { Vault } from '../vault.ts';
import type { LinkEvents } from './link-events.ts';

/** The result of a check of a link, with its current row. */
export type LinkCheckResult =
  /** The upstream has confirmed the link, now or recently enough. */
  | { kind: 'good'; link: UpstreamLinkRow }
  /** There is no token left to check the link with. */
  | { kind: 'unverifiable'; link: UpstreamLinkRow }
  /** The upstream did not respond. */
  | { kind: 'unreachable'; link: UpstreamLinkRow }
  /** The upstream rejected the tokens, or the link has ended otherwise, with all its grants. */
  | { kind: 'ended' };

/** Options of {@link createLinkCheck}. */
export interface LinkCheckOptions {
  store: Pick<
    UpstreamStore,
    'find' | 'claimRefresh' | 'putTokens' | 'noteProved' | 'noteUnreachable' | 'endLink'
  >;
  vault: Pick<Vault, 'open' | 'sealTokens'>;
  upstreams: LinkUpstreams;
  events: LinkEvents;
  /** Epoch seconds. */
  now: () => number;
}

/** The reason of a check. */
export interface LinkCheckReason {
  /**
   * The generation whose access token was rejected by an API: a later one is needed, or a confirmation of the
   * upstream.
   */
  after?: number;
}

/**
 * Time for which one process may renew tokens before another one may, in seconds. It is longer than the
 * requests of a renewal and its retries to write together: two processes that send one refresh token look
 * like theft to an upstream that rotates.
 */
const leaseSeconds = 45;

/** Pause between checks if another process has renewed the tokens, in milliseconds. */
const otherPauseMs = 50;

/** Pauses before renewed tokens are written again, if the database fails. */
const keepRetriesMs = [100, 300, 1_000, 3_000] as const;

type Known = { link: UpstreamLinkRow; upstream: LinkUpstream; tokens: UpstreamTokens };

/**
 * Creates the check of a link: by its row, and by the upstream if the row is not enough. A token that has
 * expired or soon will is renewed, by one process of all on the database; else the upstream is asked if the
 * token is still accepted (A10-02, T-090). If the upstream rejects it, the link ends, with every grant, token
 * and login that depends on it. If the upstream does not respond, that is recorded, and nothing ends.
 * @returns a function of a link's id
 * @throws StorageUnavailable if the database does not respond
 */
export function createLinkCheck(
  options: LinkCheckOptions,
): (linkId: string, reason?: LinkCheckReason) => Promise<LinkCheckResult> {
  const { store, vault, upstreams, events, now } = options;

  async function seeAgain(linkId: string): Promise<LinkCheckResult> {
    const link = await store.find(linkId);
    return link ? { kind: 'good', link } : { kind: 'ended' };
  }

  async function judge(fault: unknown, { link, upstream }: Known): Promise<LinkCheckResult> {
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

  /** Stores renewed tokens. It retries, because the old tokens may already be invalid. */
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

  /** Waits for the result of another process that renews the tokens. */
  async function awaitOther({ link }: Known): Promise<LinkCheckResult> {
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
   * Stores a refresh token that came without an access token, and renews with it, because the previous one may be used
   * up (FA-25). A second response of this kind ends the link.
   */
  async function renewWith(successor: string, known: Known): Promise<LinkCheckResult> {
    const tokens = { ...known.tokens, refreshToken: successor };
    await keep(known, tokens, known.link.provedAt);
    const link = await store.find(known.link.id);
    if (link?.generation !== known.link.generation + 1) return seeAgain(known.link.id);
    return renew({ ...known, link, tokens }, true);
  }

  async function renew(known: Known, isSecond = false): Promise<LinkCheckResult> {
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

  async function prove(known: Known): Promise<LinkCheckResult> {
    const { link, upstream, tokens } = known;
    const canRefresh = tokens.refreshToken !== undefined;
    try {
      if (!(await upstream.check(tokens))) return canRefresh ? renew(known) : { kind: 'unverifiable', link };
    } catch (fault) {
      // Only the access token may have been revoked: the refresh token decides.
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

/** The times of a link, epoch seconds. */
export type LinkTimes = Pick<UpstreamLinkRow, 'provedAt' | 'expiresAt'>;

/**
 * The age of the last confirmation of a link: `fresh`; `stale`, to be checked again in the background; `old`,
 * to be checked before it is used; `expired`, if its access token has expired.
 */
export type LinkAge = 'fresh' | 'stale' | 'old' | 'expired';

/** Time before expiry at which an access token is renewed in the background, in seconds. */
const aheadSeconds = 60;

/**
 * Minimum time after a confirmation before an access token is renewed early, in seconds: some tokens live for
 * a minute.
 */
const calmSeconds = 30;

/**
 * Returns the age of the last confirmation of a link.
 * @param checkSeconds time for which a confirmation is fresh; after twice this time it no longer counts
 * @param nowSeconds epoch seconds
 */
export function ageOf({ provedAt, expiresAt }: LinkTimes, checkSeconds: number, nowSeconds: number): LinkAge {
  if (expiresAt !== undefined && expiresAt <= nowSeconds) return 'expired';
  const age = nowSeconds - provedAt;
  if (age < checkSeconds) return 'fresh';
  return age < 2 * checkSeconds ? 'stale' : 'old';
}

/**
 * Checks if the access token of a link expires so soon that it is renewed early.
 * @param nowSeconds epoch seconds
 */
export function endsSoon({ provedAt, expiresAt }: LinkTimes, nowSeconds: number): boolean {
  if (expiresAt === undefined || expiresAt - nowSeconds > aheadSeconds) return false;
  return nowSeconds - provedAt >= calmSeconds;
}

/** The members of an upstream that link checks need. */
export type LinkUpstream = Pick<Upstream, 'name' | 'revocationEndsAll' | 'check' | 'refresh' | 'revoke'> & {
  readonly settings: Pick<Upstream['settings'], 'checkSeconds' | 'graceSeconds' | 'unverifiableSeconds'>;
};

/** The upstreams of the settings. */
export interface LinkUpstreams {
  /** Finds an upstream by its name; undefined if the settings do not have it. */
  find(name: string): LinkUpstream | undefined;
}
