import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { day } from '../settings/limits.ts';
import type { Storage } from '../storage/storage.ts';

/** How often expired rows are swept, in milliseconds. */
const sweepIntervalMs = 60_000;

/** What is swept, and how. */
export interface SweeperOptions {
  storage: Pick<Storage, 'sweepExpired'> & { audit: Pick<Storage['audit'], 'prune'> };
  audit: Settings['audit'];
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Begins to sweep out what has expired, each minute; does not keep the process alive.
 * @returns ends it
 */
export function startSweeper({ storage, audit, logger, now }: SweeperOptions): () => void {
  const sweep = async (): Promise<void> => {
    await storage.sweepExpired(now());
    await storage.audit.prune({ before: now() - audit.keepDays * day, maxRows: audit.maxEvents });
  };
  const timer = setInterval(() => {
    sweep().catch((error) => logger.warn({ err: error }, 'expired rows could not be swept'));
  }, sweepIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
