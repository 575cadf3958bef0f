import { loggable } from '../../../observability/logger.ts';

/**
 * Describes the target of a redirect for the log: its origin, but not its path, since paths may hold secrets, ours
 * among them (T-194).
 * @param location the header, one character a byte
 * @param base base of a relative URL: the URL that was asked
 * @returns undefined if it is no URL of HTTP
 */
export function redirectTarget(location: string | undefined, base: URL | null): string | undefined {
  const target = location === undefined || base === null ? null : URL.parse(location, base.href);
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined;
  return loggable(`${target.origin}/${target.pathname === '/' ? '' : '…'}`);
}
