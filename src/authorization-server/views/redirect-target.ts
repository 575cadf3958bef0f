import { checkRedirectUri, isLoopbackRedirect, isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';

/** Where the authorization code goes, in words for the person who decides. */
export interface RedirectTarget {
  /** Fits after "sent to"; plain text, to be escaped. */
  words: string;
  /** What to check first, for targets that any app on the device could be listening on. */
  caution?: string;
}

/**
 * Describes a redirect URI by what is certain about it: this computer, a host, or a scheme. Hosts are given as
 * the URL parser writes them, so a name that is not ASCII shows as punycode, and they are never shortened.
 * @param redirectUri the redirect URI of the authorization request, already accepted for the client
 * @returns its description
 * @throws TypeError for a URI that could not have been registered: no page may ask for consent to it
 * @see RFC 8252 sections 7 and 8.6; MCP authorization "Localhost redirect URI risks" (A5-09, T-077)
 */
export function describeRedirectTarget(redirectUri: string): RedirectTarget {
  const fault = checkRedirectUri(redirectUri);
  if (fault) {
    throw new TypeError(`The redirect URI cannot be described (${fault}): check it before rendering a page.`);
  }
  const url = new URL(redirectUri);
  if (isLoopbackRedirect(redirectUri)) {
    return {
      words: `an app on this computer (${url.hostname})`,
      caution: 'Only continue if you just started this login from an app on this computer.',
    };
  }
  if (isPrivateUseRedirect(redirectUri)) {
    const slashes = url.href.startsWith(`${url.protocol}//`) ? '//' : '';
    return {
      words: `the app registered for ${url.protocol}${slashes}`,
      caution: 'Only continue if you just started this login from that app on this device.',
    };
  }
  return { words: url.host };
}
