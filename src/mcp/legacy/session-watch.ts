import type { Logger } from '../../observability/logger.ts';
import type { McpSessionStore } from '../../storage/mcp-sessions.ts';

/** Parts of the watch. */
export interface SessionWatchOptions {
  store: Pick<McpSessionStore, 'othersMark' | 'filterPresent'>;
  /** Keys of the sessions this process holds. */
  held: () => readonly string[];
  /** Lets go of sessions that another process has ended. */
  onGone: (keys: ReadonlySet<string>) => void;
  logger: Pick<Logger, 'warn'>;
  /** Pause between two looks, in milliseconds; 300 by default. */
  intervalMs?: number;
}

/** Keys asked for at once, so that nobody's request waits long behind the answer. */
const batchSize = 500;

/**
 * Watches for sessions that another process ends: an operator's command, or another server on the database. The storage
 * is asked only when somebody else wrote to it.
 * @returns ends the watch
 */
export function watchSessions(options: SessionWatchOptions): () => void {
  const { store, held, onGone, logger, intervalMs = 300 } = options;
  let seen: string | undefined;
  let isLooking = false;

  const look = async (): Promise<void> => {
    const keys = held();
    if (keys.length === 0) return;
    const mark = await store.othersMark();
    if (mark === seen) return;
    const gone = new Set(keys);
    for (let at = 0; at < keys.length; at += batchSize)
      for (const key of await store.filterPresent(keys.slice(at, at + batchSize))) gone.delete(key);
    if (gone.size > 0) onGone(gone);
    seen = mark;
  };

  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => logger.warn({ err: error }, 'MCP sessions could not be looked for'))
      .finally(() => {
        isLooking = false;
      });
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
