import * as oauth from 'oauth4webapi';
import { isLoopbackRedirect } from '../../oauth/redirect-uri.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { UsableAuthorizationServer } from '../discovery/authorization-server.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { exchangeOptions, readRefusal } from '../exchange.ts';
import type { CredentialStore, Registration } from '../stores/credential-store.ts';

/** Redirect URIs a native client registers: loopback without a port, which is chosen at each login (RFC 8252 section 7.3). */
export const loopbackRedirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback'] as const;

/** A client id that the user got from the authorization server's operator. */
export interface GivenClient {
  clientId: string;
  clientSecret?: string;
}

/** What the caller wants of a registration. */
export interface RegistrationOptions {
  /** The redirect URI of the login at hand. */
  redirectUri: string;
  /** A client registered beforehand; it wins over a stored one (A5-01, A5-11). */
  given?: GivenClient | undefined;
  /** Shown on the consent page. */
  clientName?: string;
}

/**
 * Whether a registered redirect URI allows the one at hand: equal, or loopback without a port and equal but for the port.
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
 * Registers this client anew.
 * @param context where requests go through
 * @param as the authorization server
 * @param metadata client metadata (RFC 7591 section 2)
 * @returns the registration, or why the server refused
 */
async function register(
  context: ClientContext,
  as: UsableAuthorizationServer,
  metadata: Partial<oauth.OmitSymbolProperties<oauth.Client>>,
  redirectUris: readonly string[],
): Promise<Registration | { error?: string; message: string }> {
  try {
    const wanted = { ...metadata, redirect_uris: [...redirectUris] };
    const response = await oauth.dynamicClientRegistrationRequest(as, wanted, exchangeOptions(context));
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

/**
 * Registers a native client dynamically. A server that refuses redirect URIs without a port is asked once more with
 * the exact one (A5-05).
 * @throws ClientError `no_registration` without a registration endpoint; `registration_refused`
 * @see RFC 7591 section 3.1; RFC 8252 section 8.4 (A5-02, A5-04)
 */
export async function registerDynamically(
  context: ClientContext,
  as: UsableAuthorizationServer,
  options: RegistrationOptions,
): Promise<Registration> {
  if (as.registration_endpoint === undefined)
    throw new ClientError(
      'no_registration',
      `The authorization server ${as.issuer} does not register clients by itself. Ask its operator for a client id with the redirect URI ${loopbackRedirectUris[0]} (any port) and give it at the login.`,
    );
  const metadata = {
    client_name: options.clientName ?? 'Gatehouse',
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  const first = await register(context, as, metadata, loopbackRedirectUris);
  if ('clientId' in first) return first;
  if (first.error !== 'invalid_redirect_uri') throw new ClientError('registration_refused', first.message);
  const second = await register(context, as, metadata, [options.redirectUri]);
  if ('clientId' in second) return second;
  throw new ClientError('registration_refused', second.message);
}

/**
 * Finds the client to log in with: the given one, else one kept for this issuer and redirect URI, else a new one.
 * A client id registered at another issuer is never used; if it was a given one, the user has to decide (A5-10, T-184).
 * @param context where requests go through
 * @param found what discovery found
 * @param store where registrations are kept; the chosen one is kept there
 * @param options the redirect URI, and a given client
 * @throws ClientError `authorization_server_changed`, and those of {@link registerDynamically}
 */
export async function obtainRegistration(
  context: ClientContext,
  found: Pick<DiscoveredServer, 'server' | 'authorizationServer'>,
  store: CredentialStore,
  options: RegistrationOptions,
): Promise<{ registration: Registration; how: 'given' | 'kept' | 'new' }> {
  const { issuer } = found.authorizationServer;
  const kept = await store.findRegistration(issuer);
  if (options.given !== undefined) {
    const { clientId, clientSecret = kept?.clientId === clientId ? kept?.clientSecret : undefined } =
      options.given;
    const registration: Registration = {
      issuer,
      clientId,
      clientSecret,
      redirectUris: [options.redirectUri],
      source: 'given',
    };
    await store.saveRegistration(registration);
    return { registration, how: 'given' };
  }
  if (kept !== undefined && isUsable(kept, options.redirectUri, context.now()))
    return { registration: kept, how: 'kept' };
  const before = await store.findCredential(found.server);
  const earlier = before?.authorizationServer.issuer;
  if (earlier !== undefined && earlier !== issuer) {
    const old = await store.findRegistration(earlier);
    if (old?.source === 'given')
      throw new ClientError(
        'authorization_server_changed',
        `${found.server} now names another authorization server: ${issuer} instead of ${earlier}. The client id given for the earlier one is not used there; give one for ${issuer}.`,
      );
  }
  const registration = await registerDynamically(context, found.authorizationServer, options);
  await store.saveRegistration(registration);
  return { registration, how: 'new' };
}

function isUsable(registration: Registration, redirectUri: string, now: number): boolean {
  const { source, redirectUris, clientSecretExpiresAt } = registration;
  if (clientSecretExpiresAt !== undefined && clientSecretExpiresAt <= now) return false;
  return source === 'given' || redirectUris.some((registered) => redirectAllows(registered, redirectUri));
}
