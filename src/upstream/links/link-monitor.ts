import type { Logger } from '../../observability/logger.ts';
import type { UpstreamRevocation, UpstreamStore } from '../../storage/upstreams.ts';
import type { UpstreamTokens } from '../upstream.ts';
import type { Vault } from '../vault.ts';
import type { LinkUpstream, LinkUpstreams } from './link-check.ts';
import type { LinkEvents } from './link-events.ts';
import type { LinkStatus } from './link-status.ts';

/** Options of {@link startLinkMonitor}. */
export interface LinkMonitorOptions {
  store: Pick<
    UpstreamStore,
    'findOfAccount' | 'releaseUnheld' | 'dueRevocations' | 'revocationDone' | 'revocationFailed'
  >;
  vault: Pick<Vault, 'open' | 'openTokens'>;
  upstreams: LinkUpstreams;
  standing: Pick<LinkStatus, 'tend' | 'idle'>;
  events: LinkEvents;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
  /** Pause between two rounds, in milliseconds (default 300). */
  intervalMs?: number;
}

/** Monitors the links of a running server. */
export interface LinkMonitor {
  /** Runs one round. */
  round(): Promise<void>;
  /** Stops the monitor; resolves when no work is left. */
  close(): Promise<void>;
}

/** Maximum number of concurrent revocations in a round. */
const batchSize = 20;

/** First and longest pause before a revocation is repeated, in seconds; doubled each time. */
const pauses = { first: 5, longest: 3600 } as const;

/** Time for which one process may revoke tokens before another one may, in seconds. */
const leaseSeconds = 30;

/** Interval of checks of links in use, in milliseconds. */
const tendIntervalMs = 1_000;

/**
 * Starts the monitor. After the last grant of a link has ended, the upstream's tokens are revoked there,
 * within a second, and repeatedly until the upstream accepts it. Links in use are checked in the background.
 * Every process on the database may run it (A10-02, T-091).
 * @see RFC 7009
 */
export function startLinkMonitor(options: LinkMonitorOptions): LinkMonitor {
  const { store, vault, upstreams, standing, events, logger, now, intervalMs = 300 } = options;
  let lastProblem = '';
  let tendedMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /**
   * Checks if the person has logged in there again, so that a revocation would also end the new tokens: some
   * upstreams issue the same token again, at others a revocation ends all.
   */
  const isInUseAgain = async (
    { revocationEndsAll }: LinkUpstream,
    { upstream, linkId, accountId }: UpstreamRevocation,
    old: UpstreamTokens,
  ): Promise<boolean> => {
    const link = await store.findOfAccount(accountId, upstream);
    const held = link && vault.open(link);
    if (!held) return false;
    const isSame =
      held.accessToken === old.accessToken ||
      (held.refreshToken !== undefined && held.refreshToken === old.refreshToken);
    return isSame || (revocationEndsAll && link.id === linkId);
  };

  const revoke = async (due: UpstreamRevocation): Promise<void> => {
    const { id, upstream, linkId, accountId, tokens, attempts } = due;
    try {
      const named = upstreams.find(upstream);
      if (!named) throw new Error(`the settings have no upstream ${upstream}`);
      const old = vault.openTokens(linkId, tokens);
      if (await isInUseAgain(named, due, old)) return await store.revocationDone(id);
      await named.revoke(old);
    } catch (error) {
      logger.warn({ upstream, err: error }, 'tokens could not be revoked at an upstream');
      const pause = Math.min(pauses.longest, pauses.first * 2 ** attempts);
      if (await store.revocationFailed(id, now() + pause))
        events.note('upstream.revocation_failed', { upstream, accountId });
      return;
    }
    await store.revocationDone(id);
    events.note('upstream.revoked', { upstream, accountId });
  };

  const round = async (): Promise<void> => {
    try {
      if (performance.now() - tendedMs >= tendIntervalMs) {
        tendedMs = performance.now();
        standing.tend();
      }
      await store.releaseUnheld(now());
      await Promise.all((await store.dueRevocations(now(), batchSize, leaseSeconds)).map(revoke));
      lastProblem = '';
    } catch (error) {
      const problem = (error as Error).message;
      if (problem !== lastProblem)
        logger.warn({ err: error }, 'the links to upstreams could not be looked after');
      lastProblem = problem;
    }
  };

  let running = Promise.resolve();
  const goOnLater = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      running = round().then(goOnLater);
    }, intervalMs);
    timer.unref();
  };
  goOnLater();

  return {
    round,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
      await standing.idle();
    },
  };
}
