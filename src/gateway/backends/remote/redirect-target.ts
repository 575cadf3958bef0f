import { loggable } from '../../../observability/logger.ts';

/**
 * Says for the log where a server points: without user, query and fragment, and without what the path has of our own, which
 * may hold secrets (T-194).
 * @param location what it said, a byte a character
 * @param base what that may be relative to: the URL that was asked
 * @returns undefined where it is no URL of HTTP
 */
export function redirectTarget(location: string | undefined, base: URL | null): string | undefined {
  const target = location === undefined || base === null ? null : URL.parse(location, base.href);
  if (target === null || !/^https?:$/.test(target.protocol)) return undefined;
  const own = new Set(base?.pathname.split('/'));
  const path = target.pathname.split('/').map((part) => (part !== '' && isOurs(part, own) ? '…' : part));
  return loggable(`${target.protocol}//${target.host}${path.join('/')}`);
}

/** Whether part of a path is one of our own, or has the form of a user with a password. */
function isOurs(part: string, own: ReadonlySet<string>): boolean {
  return own.has(part) || part.includes('@');
}
