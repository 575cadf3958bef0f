import { createHash } from 'node:crypto';
import { style } from './style.ts';

const styleHash = createHash('sha256').update(style).digest('base64');

/**
 * The policy of every page: nothing loads, nothing runs, nothing frames it; only the inlined stylesheet applies. On
 * pages with passkeys our one script runs as well. Forms post to this origin alone: browsers hold every redirect after
 * a form to `form-action`, so the way to an app goes over a page that navigates; see `navigate`.
 * @param scriptSource the hash of the one script of the page, quoted; none may run by default
 * @returns the value of `Content-Security-Policy`
 * @see CSP Level 3 section 6.4.1 (form-action); RFC 9700 section 4.16 (T-017, T-198)
 */
export function contentSecurityPolicy(scriptSource = "'none'"): string {
  return [
    "default-src 'none'",
    `script-src ${scriptSource}`,
    `style-src 'sha256-${styleHash}'`,
    "img-src 'none'",
    "form-action 'self'",
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
