import { broken, doubtful, needsLogin, sound, type UpstreamFinding } from './finding.ts';

/** The expected values of an upstream's metadata. */
export interface ExpectedMetadata {
  /** Scopes requested at each login. */
  scopes: readonly string[];
  /** The client authentication method at the token endpoint. */
  clientAuthentication: string;
  /** The address for logout tokens. */
  logoutUrl: string;
}

/** Metadata as it was published (RFC 8414 section 2; OpenID Connect Discovery 1.0 section 3). */
export type PublishedMetadata = Readonly<Record<string, unknown>>;

/** Returns a member that is a list of strings; undefined if it is absent or another type. */
function listed(metadata: PublishedMetadata, name: string): readonly string[] | undefined {
  const value = metadata[name];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined;
}

function checkCodeFlow(metadata: PublishedMetadata): UpstreamFinding {
  const types = listed(metadata, 'response_types_supported');
  return types === undefined || types.includes('code')
    ? sound('UP-CODE-FLOW', types === undefined ? 'It names no response types.' : 'It answers with codes.')
    : broken(
        'UP-CODE-FLOW',
        `response_types_supported is ${types.join(', ')}.`,
        'Use a server that knows the authorization code flow, or switch it on there.',
      );
}

function checkPkce(metadata: PublishedMetadata): UpstreamFinding {
  const methods = listed(metadata, 'code_challenge_methods_supported');
  return methods?.includes('S256')
    ? sound('UP-PKCE', 'It knows PKCE with S256.')
    : doubtful(
        'UP-PKCE',
        methods === undefined
          ? 'It does not say whether it knows PKCE.'
          : `It knows ${methods.join(', ')} of PKCE.`,
        'Nothing, where it ignores what it does not know: a code is bound to the browser by state and nonce as well. Switch PKCE with S256 on there if you can.',
      );
}

function checkClientAuthentication(metadata: PublishedMetadata, wanted: string): UpstreamFinding {
  // OpenID Connect Discovery 1.0 section 3: the default is client_secret_basic.
  const methods = listed(metadata, 'token_endpoint_auth_methods_supported') ?? ['client_secret_basic'];
  return methods.includes(wanted)
    ? sound('UP-CLIENT-AUTH', `It takes ${wanted}.`)
    : broken(
        'UP-CLIENT-AUTH',
        `It takes ${methods.join(', ')}, and the settings lead to ${wanted}.`,
        methods.includes('private_key_jwt')
          ? 'Give clientKeyFile in the place of a secret.'
          : 'Give clientSecretFile in the place of a key.',
      );
}

function checkScopes(metadata: PublishedMetadata, wanted: readonly string[]): UpstreamFinding {
  const known = listed(metadata, 'scopes_supported');
  if (known === undefined) return needsLogin('UP-SCOPES', 'It does not say which scopes it knows.');
  if (known.includes('openid') && !wanted.includes('openid'))
    return doubtful(
      'UP-SCOPES',
      `The settings ask for ${wanted.join(' ')}, without openid.`,
      'Add openid, profile and email to "scopes": they are no longer there by themselves, and without openid no ID token comes.',
    );
  const missing = wanted.filter((scope) => !known.includes(scope));
  return missing.length === 0
    ? sound('UP-SCOPES', `It knows ${wanted.join(' ')}.`)
    : doubtful(
        'UP-SCOPES',
        `It does not list ${missing.join(' ')}.`,
        'Servers need not list all. If the login fails with invalid_scope, mend "scopes" in the settings, or allow them for this client there.',
      );
}

function checkRefresh(metadata: PublishedMetadata, wanted: readonly string[]): UpstreamFinding {
  const grants = listed(metadata, 'grant_types_supported');
  if (grants !== undefined && !grants.includes('refresh_token'))
    return doubtful(
      'UP-REFRESH',
      'It gives no refresh tokens.',
      'Access then ends unverifiableSeconds after the access token there, unless its user info can be asked. Switch refresh tokens on there if you can.',
    );
  const isOffered = listed(metadata, 'scopes_supported')?.includes('offline_access');
  if (isOffered && !wanted.includes('offline_access'))
    return needsLogin(
      'UP-REFRESH',
      'It knows offline_access, which the settings do not ask for: add it to "scopes" where no refresh token comes without.',
    );
  return sound(
    'UP-REFRESH',
    grants === undefined ? 'It does not say that it gives none.' : 'It gives refresh tokens.',
  );
}

function checkRevocation(metadata: PublishedMetadata): UpstreamFinding {
  return typeof metadata.revocation_endpoint === 'string'
    ? sound('UP-REVOCATION', 'Tokens can be revoked there.')
    : doubtful(
        'UP-REVOCATION',
        'It has no revocation endpoint.',
        'Where access ends here, its tokens are forgotten, and end there when they expire. Nothing to mend here.',
      );
}

function checkLogout(metadata: PublishedMetadata, logoutUrl: string): UpstreamFinding {
  return metadata.backchannel_logout_supported === true
    ? sound(
        'UP-LOGOUT',
        `It can tell of logouts: register ${logoutUrl} there as the back-channel logout URL.`,
      )
    : sound('UP-LOGOUT', 'It does not tell of logouts: they are seen at the next refresh.');
}

/**
 * Checks the metadata of an upstream, except its endpoints.
 * @param metadata as published
 * @param wanted the expected values
 */
export function checkMetadata(metadata: PublishedMetadata, wanted: ExpectedMetadata): UpstreamFinding[] {
  return [
    checkCodeFlow(metadata),
    checkPkce(metadata),
    checkClientAuthentication(metadata, wanted.clientAuthentication),
    checkScopes(metadata, wanted.scopes),
    checkRefresh(metadata, wanted.scopes),
    checkRevocation(metadata),
    checkLogout(metadata, wanted.logoutUrl),
  ];
}

const keysId = 'UP-KEYS';

/** Members of private and shared keys (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];

/**
 * Checks the keys for ID tokens (RFC 7517 section 5).
 * @param published the document at `jwks_uri`
 */
export function checkKeys(published: unknown): UpstreamFinding {
  const keys = (published as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0)
    return broken(
      keysId,
      'There is no key at jwks_uri.',
      'Ask whoever runs it: without keys no ID token can be verified.',
    );
  const entries = keys.map((key) => Object(key) as Record<string, unknown>);
  if (entries.some((key) => secretMembers.some((member) => key[member] !== undefined)))
    return broken(
      keysId,
      'Among its public keys is one with private members: anybody can sign ID tokens.',
      'Do not log in with it until its keys are replaced.',
    );
  const usable = entries.filter(({ use, kty }) => (use === undefined || use === 'sig') && kty !== 'oct');
  return usable.length === 0
    ? broken(
        keysId,
        'None of its keys is for signatures.',
        'Publish the keys that ID tokens are signed with.',
      )
    : sound(keysId, `${usable.length} ${usable.length === 1 ? 'key verifies' : 'keys verify'} ID tokens.`);
}

const redirectId = 'UP-REDIRECT';

/** The response of an authorization endpoint to a browser without a session. */
export interface AuthorizationAnswer {
  status: number;
  /** The target of a redirect; undefined for a page. */
  location?: string | undefined;
  /** The beginning of the page. */
  text: string;
}

/** Phrases of error pages that have a success status (Google; Entra; GitHub). */
const errorWords = /redirect_uri_mismatch|AADSTS(?:50011|700016|900\d+)|signin\/oauth\/error|invalid_client/i;

/** Returns the OAuth error of the callback, if there is one (RFC 6749 section 4.1.2.1). */
function errorOf(location: URL): string | undefined {
  const error = location.searchParams.get('error');
  return error === null ? undefined : /^[a-z_]{1,40}$/.test(error) ? error : 'an error';
}

/**
 * Checks the response to an authorization request of a login (RFC 6749 section 4.1.2.1): an error page there
 * would end the login. A successful response does not guarantee that a login succeeds.
 * @param answer to a GET without cookies
 * @param callbackUrl the redirect URI of the request
 */
export function checkAuthorization(answer: AuthorizationAnswer, callbackUrl: string): UpstreamFinding {
  const { status, location, text } = answer;
  const target = location === undefined ? null : URL.parse(location);
  if (target && location?.startsWith(callbackUrl)) {
    const error = errorOf(target);
    // Without a session, an error may be a request to log in (OpenID Connect Core 1.0 3.1.2.6).
    if (error !== undefined && !/^(login|interaction|consent|account_selection)_required$/.test(error))
      return broken(
        redirectId,
        `It sends the browser back with ${error}.`,
        error === 'invalid_scope'
          ? 'Correct "scopes" in the settings, or allow them for this client there.'
          : 'Look at the client there: the authorization code flow, its scopes, and whether it is enabled.',
      );
  }
  if (status >= 500)
    return broken(
      redirectId,
      `Its authorization endpoint answers ${status}.`,
      'Look into its log: it fails on its own.',
    );
  if (status >= 400 || errorWords.test(`${location ?? ''} ${text}`))
    return broken(
      redirectId,
      `It shows an error page (status ${status}) in the place of a login.`,
      `Register this redirect URI there, character by character: ${callbackUrl} - and compare clientId with the one there.`,
    );
  return needsLogin(
    redirectId,
    `It asks for a login. Some servers look at the redirect URI only after that: it has to be registered as ${callbackUrl}.`,
  );
}
