import type { Logger } from '../../observability/logger.ts';
import type { UpstreamRevocation, UpstreamStore } from '../../storage/upstreams.ts';
import type { UpstreamTokens } from '../upstream.ts';
import type { Vault } from '../vault.ts';
import type { BondEvents } from './bond-events.ts';
import type { BondUpstream, BondUpstreams } from './bond-upstreams.ts';
import type { Standing } from './standing.ts';

/** What a keeper works with. */
export interface KeeperOptions {
  store: Pick<
    UpstreamStore,
    'findOfAccount' | 'releaseUnheld' | 'dueRevocations' | 'revocationDone' | 'revocationFailed'
  >;
  vault: Pick<Vault, 'open' | 'openTokens'>;
  upstreams: BondUpstreams;
  standing: Pick<Standing, 'tend' | 'idle'>;
  events: BondEvents;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
  /** Pause between two rounds, in milliseconds; 300 by default. */
  intervalMs?: number;
}

/** Looks after the bond of a running server. */
export interface Keeper {
  /** Does what is due once. */
  round(): Promise<void>;
  /** Ends it; resolves when nothing of it runs any more. */
  close(): Promise<void>;
}

/** Most tokens that are revoked in a round, all at once. */
const batchSize = 20;

/** The first and the longest pause before a revocation is tried again, in seconds; doubled each time. */
const pauses = { first: 5, longest: 3600 } as const;

/** How long a process may take to revoke tokens before another one does, in seconds. */
const leaseSeconds = 30;

/** How often links are looked after that are in use, in milliseconds. */
const tendIntervalMs = 1_000;

/**
 * Starts the keeper: where the last grant of a link has ended, whoever ended it, the upstream's tokens are revoked there,
 * within a second and again until the upstream has taken it; and links in use are looked after. Every process on the
 * database may do it (A10-02, T-091).
 * @see RFC 7009
 */
export function startKeeper(options: KeeperOptions): Keeper {
  const { store, vault, upstreams, standing, events, logger, now, intervalMs = 300 } = options;
  let lastProblem = '';
  let tendedMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /**
   * Whether the person has logged in there again, and what is held for them now would end with the old: some upstreams give
   * the same token once more, at others a revocation ends all.
   */
  const isInUseAgain = async (
    { revocationEndsAll }: BondUpstream,
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
