import { hash } from 'node:crypto';

/**
 * Returns the name of a cookie. Browsers keep cookies by host and path, whatever the port. So the name identifies a
 * server on a port of its own, and a server below a path if the cookie is for the whole host: another Gatehouse on this
 * host does not overwrite it.
 * @param url the issuer, or the page that the cookie is for
 * @param what content of the cookie
 * @param reach `host`: for all paths of the host, and over https no other host can set it (`__Host-`); `path`: for the
 *   path of the page or less
 * @see RFC 6265 sections 5.3 and 8.5; RFC 6265bis section 4.1.3
 */
export function cookieName(url: string, what: string, reach: 'host' | 'path'): string {
  const { protocol, port, pathname } = new URL(url);
  const prefix = protocol !== 'https:' ? '' : reach === 'host' ? '__Host-' : '__Secure-';
  const path = reach === 'host' ? pathname.replace(/\/+$/, '') : '';
  const place = [port, path && hash('sha256', path, 'base64url').slice(0, 8)];
  return [`${prefix}gatehouse-${what}`, ...place.filter(Boolean)].join('-');
}
