import { isLoopbackRedirect } from '../../oauth/redirect-uri.ts';

/** Redirect URIs a native client registers: loopback without a port, which is chosen at each login (RFC 8252 section 7.3). */
export const loopbackRedirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback'] as const;

/**
 * Whether a registered redirect URI allows the one at hand: equal, or loopback without a port and equal but for the port.
 * @param registered as the authorization server knows it
 * @param wanted that of the login at hand
 * @see RFC 8252 section 7.3; RFC 9700 section 2.1
 */
export function redirectAllows(registered: string, wanted: string): boolean {
  if (registered === wanted) return true;
  const held = URL.parse(registered);
  if (held?.port !== '' || !isLoopbackRedirect(registered) || !isLoopbackRedirect(wanted)) return false;
  const free = new URL(wanted);
  free.port = '';
  return free.href === held.href;
}

/**
 * Whether an authorization server refuses a request because of its redirect URI: it compares ports too, or knows others.
 * @param error `error` of its answer
 * @param description `error_description`
 * @see RFC 6749 section 4.1.2.1, whose `invalid_request` is what many of them say
 */
export function isRedirectRefusal(error: string, description: string | undefined): boolean {
  return /redirect[_ ]?uri/i.test(error === 'invalid_request' ? (description ?? '') : error);
}
