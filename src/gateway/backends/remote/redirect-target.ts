import { loggable } from '../../../observability/logger.ts';

/**
 * Says for the log where a server points: to which origin, and whether below it, but not where, as paths may hold secrets,
 * ours among them (T-194).
 * @param location what it said, a byte a character
 * @param base what that may be relative to: the URL that was asked
 * @returns undefined where it is no URL of HTTP
 */
export function redirectTarget(location: string | undefined, base: URL | null): string | undefined {
  const target = location === undefined || base === null ? null : URL.parse(location, base.href);
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined;
  return loggable(`${target.origin}/${target.pathname === '/' ? '' : '…'}`);
}
