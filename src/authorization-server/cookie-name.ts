import { hash } from 'node:crypto';

/**
 * Gives the name of a cookie. Browsers keep cookies by host and path, whatever the port: the name says of a server on a
 * port of its own which, and of one below a path which where the cookie is for all of the host, so that another Gatehouse
 * on this host does not take its place.
 * @param url the issuer, or the page that a cookie is for
 * @param what it holds
 * @param reach `host`: it is for all paths of its host, and over https no other host can set it (`__Host-`); `path`: it is
 *   for the path of the page or less
 * @see RFC 6265 sections 5.3 and 8.5; RFC 6265bis section 4.1.3
 */
export function cookieName(url: string, what: string, reach: 'host' | 'path'): string {
  const { protocol, port, pathname } = new URL(url);
  const prefix = protocol !== 'https:' ? '' : reach === 'host' ? '__Host-' : '__Secure-';
  const path = reach === 'host' ? pathname.replace(/\/+$/, '') : '';
  const place = [port, path && hash('sha256', path, 'base64url').slice(0, 8)];
  return [`${prefix}gatehouse-${what}`, ...place.filter(Boolean)].join('-');
}
