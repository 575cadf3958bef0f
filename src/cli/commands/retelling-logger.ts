import type { Logger } from '../../observability/logger.ts';

/**
 * Gives a logger whose warnings of one sentence, such as those about settings, are told in other words.
 * @param logger writes them, and all else as it is
 * @param retell the sentence in other words
 */
export function createRetellingLogger(logger: Logger, retell: (sentence: string) => string): Logger {
  const write = logger.warn.bind(logger) as (...line: unknown[]) => void;
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: (first: unknown, ...rest: unknown[]) =>
      write(typeof first === 'string' ? retell(first) : first, ...rest),
    error: logger.error.bind(logger),
    isLevelEnabled: logger.isLevelEnabled.bind(logger),
  };
}
