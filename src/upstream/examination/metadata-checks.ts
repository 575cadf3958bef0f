import { broken, doubtful, sound, type UpstreamFinding, untold } from './finding.ts';

/** What the settings want of an upstream's metadata. */
export interface WantedOfMetadata {
  /** Scopes that are asked for at each login. */
  scopes: readonly string[];
  /** How the token endpoint is authenticated at. */
  clientAuthentication: string;
  /** Where an upstream that can may send logout tokens. */
  logoutUrl: string;
}

/** Metadata as it was published (RFC 8414 section 2; OpenID Connect Discovery 1.0 section 3). */
export type PublishedMetadata = Readonly<Record<string, unknown>>;

/** A member that is a list of texts; undefined where it is absent or something else. */
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
  // OpenID Connect Discovery 1.0 section 3: where the member is left out, client_secret_basic is meant.
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
  if (known === undefined) return untold('UP-SCOPES', 'It does not say which scopes it knows.');
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
    return untold(
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
 * Looks at what an upstream says of itself, beside where its endpoints are.
 * @param metadata as it was published
 * @param wanted what the settings want of it
 */
export function checkMetadata(metadata: PublishedMetadata, wanted: WantedOfMetadata): UpstreamFinding[] {
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
