import { createHash } from 'node:crypto';
import { checkRedirectUri, isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import { style } from './style.ts';

const styleHash = createHash('sha256').update(style).digest('base64');

/** Hosts a CSP source can name; a URL host may also hold `;` or `,`, which would end the directive. */
const sourceHost = /^[a-z0-9._-]+$/;

/**
 * @param uri a redirect URI
 * @returns the CSP source that lets a form post end there, or undefined when none can be written
 */
function formActionSource(uri: string): string | undefined {
  if (checkRedirectUri(uri)) return undefined;
  const url = new URL(uri);
  if (isPrivateUseRedirect(uri)) return url.protocol;
  if (sourceHost.test(url.hostname)) return url.origin;
  // CSP has no syntax for IPv6 hosts: Chromium drops `http://[::1]:port` as invalid, so only the port is named.
  if (url.hostname === '[::1]') {
    return `${url.protocol}//*:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  }
  return undefined;
}

/**
 * The policy of every page: nothing loads, nothing runs, nothing frames it; only the inlined stylesheet applies.
 * @param redirectUri where the client waits, when posting the page's form may end in a redirect to it: Chromium
 *   applies `form-action` to each redirect that follows a form post. A URI that could not be registered, or whose
 *   host a policy cannot name, adds nothing, so the browser stops the redirect.
 * @returns the value of `Content-Security-Policy`
 * @see CSP Level 3 section 6.4.1 (form-action); RFC 9700 section 4.16 (T-017, T-198)
 */
export function contentSecurityPolicy(redirectUri?: string): string {
  const target = redirectUri === undefined ? undefined : formActionSource(redirectUri);
  return [
    "default-src 'none'",
    "script-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src 'none'",
    `form-action 'self'${target === undefined ? '' : ` ${target}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** The other headers of every page (T-017): not stored, not framed, nothing told to the next site, no device access. */
export const pageHeaders: Record<string, string> = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), serial=(), usb=()',
};
