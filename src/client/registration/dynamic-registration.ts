import * as oauth from 'oauth4webapi';
import { isLoopbackRedirect, isPrivateUseRedirect } from '../../oauth/redirect-uri.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { UsableAuthorizationServer } from '../discovery/authorization-server.ts';
import { exchangeOptions, readRefusal } from '../oauth-client.ts';
import type { Registration } from '../stores/credential-store.ts';
import { grantTypes } from '../tokens/token-request.ts';

/** Options of a dynamic registration. */
export interface DynamicRegistrationOptions {
  /** The redirect URI of the current login. */
  redirectUri: string;
  /**
   * Redirect URIs to register, one of which allows the current one (default {@link loopbackRedirectUris}).
   */
  registeredRedirectUris?: readonly string[] | undefined;
  /** The name on the consent page. */
  clientName?: string | undefined;
  /**
   * Allows this client to register if registration is restricted; it is sent to the registration endpoint
   * only (RFC 7591 section 3).
   */
  initialAccessToken?: string | undefined;
}

/** Checks if all redirects lead to the user's own machine (OpenID Connect Registration section 2). */
function isNative(redirectUris: readonly string[]): boolean {
  return redirectUris.every((uri) => isLoopbackRedirect(uri) || isPrivateUseRedirect(uri));
}

/** Returns the registration, or the refusal of the server (RFC 7591 section 3.2). */
async function register(
  context: ClientContext,
  as: UsableAuthorizationServer,
  metadata: Partial<oauth.OmitSymbolProperties<oauth.Client>>,
  redirectUris: readonly string[],
  initialAccessToken: string | undefined,
): Promise<Registration | { error?: string; message: string }> {
  try {
    const wanted = {
      ...metadata,
      application_type: isNative(redirectUris) ? 'native' : 'web',
      redirect_uris: [...redirectUris],
    };
    const response = await oauth.dynamicClientRegistrationRequest(as, wanted, {
      ...exchangeOptions(context, { kind: 'registration' }),
      ...(initialAccessToken === undefined ? {} : { initialAccessToken }),
    });
    const client = await oauth.processDynamicClientRegistrationResponse(response);
    const { client_id: clientId, client_secret: secret, client_secret_expires_at: expiresAt } = client;
    const method = client.token_endpoint_auth_method;
    return {
      issuer: as.issuer,
      clientId,
      clientSecret: typeof secret === 'string' ? secret : undefined,
      clientSecretExpiresAt: typeof secret === 'string' && expiresAt ? Number(expiresAt) : undefined,
      tokenEndpointAuthMethod: typeof method === 'string' ? method : undefined,
      redirectUris: [...redirectUris],
      source: 'dynamic',
    };
  } catch (thrown) {
    return readRefusal(thrown, 'registration endpoint');
  }
}

/** Returns advice for a client that cannot be registered, in the order of the specification (A5-01). */
function waysOut(as: UsableAuthorizationServer): string {
  const byHand = `Ask its operator for a client id with the redirect URI ${loopbackRedirectUris[0]} (any port) and give it at the login.`;
  return as.client_id_metadata_document_supported
    ? `${byHand} Or give the URL of a client metadata document, which this server reads.`
    : byHand;
}

function refused(as: UsableAuthorizationServer, why: string): ClientError {
  return new ClientError('registration_refused', `${why} ${waysOut(as)}`);
}

/**
 * Returns `none` (a public client), unless the server only supports clients that authenticate (RFC 8414
 * section 2).
 */
function authenticationMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes('none')) return 'none';
  const known = ['client_secret_basic', 'client_secret_post'];
  return known.find((method) => supported.includes(method)) ?? 'none';
}

/**
 * Registers a client dynamically. If the server rejects redirect URIs without a port, the exact one is
 * registered (A5-05).
 * @param context fetch, clock and limits
 * @param as the authorization server
 * @param options redirect URIs and name
 * @throws ClientError `no_registration` without a registration endpoint; `registration_refused`
 * @see RFC 7591 section 3.1; RFC 8252 section 8.4 (A5-02, A5-04)
 */
export async function registerDynamically(
  context: ClientContext,
  as: UsableAuthorizationServer,
  options: DynamicRegistrationOptions,
): Promise<Registration> {
  if (as.registration_endpoint === undefined)
    throw new ClientError(
      'no_registration',
      `The authorization server ${as.issuer} does not register clients by itself. ${waysOut(as)}`,
    );
  const { redirectUri, registeredRedirectUris = loopbackRedirectUris, clientName = 'Gatehouse' } = options;
  const { initialAccessToken } = options;
  const metadata = {
    client_name: clientName,
    grant_types: [
      'authorization_code',
      'refresh_token',
      ...(as.device_authorization_endpoint === undefined ? [] : [grantTypes.deviceCode]),
    ],
    response_types: ['code'],
    token_endpoint_auth_method: authenticationMethod(as.token_endpoint_auth_methods_supported),
  };
  const first = await register(context, as, metadata, registeredRedirectUris, initialAccessToken);
  if ('clientId' in first) return first;
  const isExact = registeredRedirectUris.length === 1 && registeredRedirectUris[0] === redirectUri;
  if (first.error !== 'invalid_redirect_uri' || isExact) throw refused(as, first.message);
  const second = await register(context, as, metadata, [redirectUri], initialAccessToken);
  if ('clientId' in second) return second;
  throw refused(as, second.message);
}

/**
 * Redirect URIs of a native client: loopback without a port, which is chosen at each login (RFC 8252 section
 * 7.3).
 */
export const loopbackRedirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback'] as const;

/**
 * Checks if a registered redirect URI allows another: they are equal, or both loopback and the registered one
 * has no port.
 * @param registered the URI that the authorization server knows
 * @param wanted the URI of the current login
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
 * Checks if an authorization server rejected a request because of its redirect URI: it also compares ports,
 * or knows other URIs.
 * @param error `error` of its response
 * @param description `error_description`
 * @see RFC 6749 section 4.1.2.1, whose `invalid_request` many servers use for it
 */
export function isRedirectRefusal(error: string, description: string | undefined): boolean {
  return /redirect[_ ]?uri/i.test(error === 'invalid_request' ? (description ?? '') : error);
}
