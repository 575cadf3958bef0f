import { broken, type UpstreamFinding, untold } from './finding.ts';

const id = 'UP-REDIRECT';

/** What an authorization endpoint answered to a browser that nobody is logged in with. */
export interface AuthorizationAnswer {
  status: number;
  /** Where it sends the browser; undefined where it shows a page itself. */
  location?: string | undefined;
  /** The beginning of the page. */
  text: string;
}

/** Words of pages that show an error with another status than one (Google; Entra; GitHub). */
const errorWords = /redirect_uri_mismatch|AADSTS(?:50011|700016|900\d+)|signin\/oauth\/error|invalid_client/i;

/** The code of an error in the callback, where it is one of the standards' (RFC 6749 section 4.1.2.1). */
function errorOf(location: URL): string | undefined {
  const error = location.searchParams.get('error');
  return error === null ? undefined : /^[a-z_]{1,40}$/.test(error) ? error : 'an error';
}

/**
 * Judges the answer to an authorization request as logins send it (RFC 6749 section 4.1.2.1): whoever gets a page of
 * errors there would not come back. Whether a login goes well in the end cannot be told from here.
 * @param answer to a GET without cookies
 * @param callbackUrl what was asked for as the redirect URI
 */
export function checkAuthorization(answer: AuthorizationAnswer, callbackUrl: string): UpstreamFinding {
  const { status, location, text } = answer;
  const target = location === undefined ? null : URL.parse(location);
  if (target && location?.startsWith(callbackUrl)) {
    const error = errorOf(target);
    // Without anybody there, asking for a login by an error is how a server may answer (OpenID Connect Core 1.0 3.1.2.6).
    if (error !== undefined && !/^(login|interaction|consent|account_selection)_required$/.test(error))
      return broken(
        id,
        `It sends the browser back with ${error}.`,
        error === 'invalid_scope'
          ? 'Correct "scopes" in the settings, or allow them for this client there.'
          : 'Look at the client there: the authorization code flow, its scopes, and whether it is enabled.',
      );
  }
  if (status >= 500)
    return broken(
      id,
      `Its authorization endpoint answers ${status}.`,
      'Look into its log: it fails on its own.',
    );
  if (status >= 400 || errorWords.test(`${location ?? ''} ${text}`))
    return broken(
      id,
      `It shows an error page (status ${status}) in the place of a login.`,
      `Register this redirect URI there, character by character: ${callbackUrl} - and compare clientId with the one there.`,
    );
  return untold(
    id,
    `It asks for a login. Some servers look at the redirect URI only after that: it has to be registered as ${callbackUrl}.`,
  );
}
