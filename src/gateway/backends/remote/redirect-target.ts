import { loggable } from '../../../observability/logger.ts';

/**
 * Says for the log where a server points: without user, query and fragment, which may hold secrets (T-194).
 * @param location what it said, a byte a character
 * @param base what that may be relative to
 * @returns undefined where it is no URL
 */
export function redirectTarget(location: string | undefined, base: URL): string | undefined {
  const target = location === undefined ? null : URL.parse(location, base.href);
  return target ? loggable(`${target.protocol}//${target.host}${target.pathname}`) : undefined;
}
