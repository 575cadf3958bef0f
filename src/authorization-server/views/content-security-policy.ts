import { createHash } from 'node:crypto';
import { checkRedirectUri, isLoopbackRedirect, isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import { style } from './style.ts';

const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * The schemes a form post may end at. Chromium holds every redirect after a post to `form-action`, and clients go on
 * from their redirect URI to wherever they please (a loopback listener to a page on the web), so whole schemes are
 * named, not hosts.
 * @param uri a redirect URI
 */
function formActionSources(uri: string): string[] {
  if (checkRedirectUri(uri)) return [];
  if (isPrivateUseRedirect(uri)) return [new URL(uri).protocol];
  return isLoopbackRedirect(uri) ? ['http:', 'https:'] : ['https:'];
}

/**
 * The policy of every page: nothing loads, nothing runs, nothing frames it; only the inlined stylesheet applies. Where
 * people may use passkeys our one script runs as well.
 * @param leadsTo where posting the page's form may lead: the redirect URI at which the client waits, and what lies on
 *   the way; one that could not be registered adds nothing, so the browser stops the redirect
 * @param scriptSource the hash of the one script of the page, quoted; none may run by default
 * @returns the value of `Content-Security-Policy`
 * @see CSP Level 3 section 6.4.1 (form-action); RFC 9700 section 4.16 (T-017, T-198)
 */
export function contentSecurityPolicy(
  leadsTo: string | readonly string[] = [],
  scriptSource = "'none'",
): string {
  const targets = new Set([leadsTo].flat().flatMap(formActionSources));
  return [
    "default-src 'none'",
    `script-src ${scriptSource}`,
    `style-src 'sha256-${styleHash}'`,
    "img-src 'none'",
    ["form-action 'self'", ...targets].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/**
 * The other headers of every page (T-017): not stored, not framed, nothing told to the next site, no device access.
 * No `Cross-Origin-Opener-Policy`: web clients open the login in a popup and wait for a word from it.
 */
export const pageHeaders: Record<string, string> = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), serial=(), usb=()',
};
