import type { IncomingHttpHeaders } from 'node:http';
import { headerOf } from '../http/headers.ts';

/** Names of this machine. */
export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Checks that a request is meant for this server and comes from none but its own pages: whoever makes a browser
 * resolve a foreign name to this machine is refused (DNS rebinding; B3-12, T-131).
 * @param allowedHosts names without ports
 * @returns the header that is refused, if any
 */
export function checkRestAddress(
  headers: IncomingHttpHeaders,
  allowedHosts: readonly string[],
): 'Host' | 'Origin' | undefined {
  const host = headerOf(headers, 'host');
  const origin = headerOf(headers, 'origin');
  const isAllowed = (url: string): boolean => {
    const hostname = URL.parse(url)?.hostname;
    return hostname !== undefined && allowedHosts.includes(hostname);
  };
  if (!isAllowed(`http://${host ?? ''}`)) return 'Host';
  return origin === undefined || isAllowed(origin) ? undefined : 'Origin';
}
