import type { Logger } from '../../../observability/logger.ts';

/** Most warnings about one backend in a window; what is beyond is counted (T-156). */
const maxOfWindow = 50;
const windowMs = 10_000;

/** Writes a warning, with what it is about. */
export type Warn = (details: Readonly<Record<string, unknown>>, sentence: string) => void;

/**
 * Creates what warns of a backend: a server that fails, or says nonsense, with every message does not fill the log.
 * @param backend what it is called
 */
export function createBoundedWarnings(
  backend: string,
  logger: Pick<Logger, 'warn'>,
  nowMs: () => number = () => performance.now(),
): Warn {
  let endsAtMs = 0;
  let written = 0;
  let dropped = 0;
  return (details, sentence) => {
    if (nowMs() >= endsAtMs) {
      endsAtMs = nowMs() + windowMs;
      written = 0;
    }
    if (++written > maxOfWindow) {
      dropped++;
      return;
    }
    logger.warn({ backend, ...details, ...(dropped > 0 && { droppedLines: dropped }) }, sentence);
    dropped = 0;
  };
}
