import { type CountWindow, type ShareCounts, WindowCounts } from '../collections/window-counts.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import { keyedDigest } from '../crypto/secret.ts';
import type { Logger } from '../observability/logger.ts';
import type { CounterStore } from '../storage/counters.ts';
import { StorageUnavailable } from '../storage/storage.ts';
import { type GuessLimiter, type Limit, type Limiters, type LoadLimiter, memoryLimiters } from './limits.ts';

/** Minimum pause between two exchanges of counts with other nodes, in milliseconds. */
export const exchangePauseMs = 1_000;

/** Maximum number of keys in one write. */
const maxKeys = 1_000;

/** Parts of {@link createLimiters}. */
export interface LimiterParts {
  /** Undefined if only this process counts. */
  counters: CounterStore | undefined;
  /** The database stores digests under a key that the nodes share and that does not rotate. */
  keys: Pick<KeySet, 'audit'>;
  logger: Pick<Logger, 'warn'>;
}

const toSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** Creates the limiters of an installation. */
export function createLimiters({ counters, keys, logger }: LimiterParts): Limiters {
  if (!counters) return memoryLimiters;
  const digest = (...parts: string[]): string => keyedDigest(keys.audit, 'counter', ...parts);
  const exchange = createExchange(counters, digest, logger);
  const sharing = (name: string) => (window: CountWindow) => exchange.note(window, name);
  return {
    ofGuesses: (name, limit) => createGuessLimiter(counters, limit, (key) => digest(name, key)),
    ofLoad: (name, limit) => createLoadLimiter(limit, sharing(name)),
    sharing,
    close: exchange.close,
  };
}

/** Leaves a count in place that cannot be taken off now: the attempt was right, and its response must not fail. */
function ignoreOutage(error: unknown): void {
  if (!(error instanceof StorageUnavailable)) throw error;
}

function createGuessLimiter(
  counters: CounterStore,
  limit: Limit,
  digest: (key: string) => string,
): GuessLimiter {
  return {
    take: async (key) => toSeconds(await counters.take(digest(key), limit)),
    giveBack: (key) => counters.giveBack(digest(key)).catch(ignoreOutage),
    reset: (key) => counters.reset(digest(key)).catch(ignoreOutage),
  };
}

function createLoadLimiter({ times, windowSeconds }: Limit, share: ShareCounts): LoadLimiter {
  const windowMs = windowSeconds * 1000;
  const counts = new WindowCounts(windowMs, () => performance.now(), share);
  let idleFrom = Number.NEGATIVE_INFINITY;
  return {
    async take(key) {
      // A window that other nodes know ends up to a pause later than it began here.
      idleFrom = performance.now() + windowMs + exchangePauseMs;
      return toSeconds(counts.take(key, '', times));
    },
    wait: async (key) => toSeconds(counts.wait(key, '', times)),
    isIdle: () => performance.now() > idleFrom,
    giveBack: async (key) => counts.giveBack(key, ''),
  };
}

/** Counts of a key on their way to the database. */
interface SentCounts {
  windowSeconds: number;
  /** With the counts of each that are sent. More than one if a limit was created anew. */
  windows: { window: CountWindow; points: number }[];
}

/**
 * Creates the exchange of counts: at most once in a pause, new counts are added in the database, and the sums of all
 * nodes come back. While the database is away each node counts by itself.
 */
function createExchange(
  counters: CounterStore,
  digest: (...parts: string[]) => string,
  logger: Pick<Logger, 'warn'>,
) {
  const changed = new Map<CountWindow, string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let exchangedAt = Number.NEGATIVE_INFINITY;
  let isAway = false;
  let isClosed = false;

  function schedule(): void {
    if (timer || running || isClosed || changed.size === 0) return;
    const pauseMs = Math.max(0, exchangedAt + exchangePauseMs - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      running = run().finally(() => {
        running = undefined;
        schedule();
      });
    }, pauseMs);
    timer.unref();
  }

  async function run(): Promise<void> {
    exchangedAt = performance.now();
    const batch = [...changed];
    changed.clear();
    for (let from = 0; from < batch.length; from += maxKeys) {
      try {
        await send(batch.slice(from, from + maxKeys));
        isAway = false;
      } catch (err) {
        for (const [window, name] of batch.slice(from)) changed.set(window, name);
        if (!isAway)
          logger.warn({ err }, 'limits of load count on this node alone until the database is back');
        isAway = true;
        return;
      }
    }
  }

  async function send(batch: readonly [CountWindow, string][]): Promise<void> {
    const sent = new Map<string, SentCounts>();
    for (const [window, name] of batch) {
      const points = window.unshared;
      // Of counts that were all given back there is nothing to add.
      if (window.isOver || points < 1) continue;
      const key = digest(name, window.owner, window.key);
      const counts = sent.get(key) ?? { windowSeconds: window.lengthMs / 1000, windows: [] };
      sent.set(key, counts);
      counts.windows.push({ window, points });
      window.unshared = 0;
    }
    if (sent.size === 0) return;
    try {
      const totals = await counters.add(
        [...sent].map(([key, { windowSeconds, windows }]) => ({
          key,
          windowSeconds,
          points: windows.reduce((sum, { points }) => sum + points, 0),
        })),
      );
      for (const [key, { points, leftMs }] of totals)
        for (const { window } of sent.get(key)?.windows ?? []) window.adopt(points, leftMs);
    } catch (error) {
      for (const { windows } of sent.values())
        for (const { window, points } of windows) window.unshared += points;
      throw error;
    }
  }

  return {
    note(window: CountWindow, name: string): void {
      changed.set(window, name);
      schedule();
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await running;
      await run();
    },
  };
}
