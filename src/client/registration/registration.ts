import { type EndpointRefusal, readEndpointRefusal } from '../authorization/endpoint-refusal.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { UsableAuthorizationServer } from '../discovery/authorization-server.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { limitedFetch } from '../limited-fetch.ts';
import type { CredentialStore, PrivateJwk, Registration } from '../stores/credential-store.ts';
import { requireUrl } from '../url-policy.ts';
import {
  type DynamicRegistrationOptions,
  isRedirectRefusal,
  loopbackRedirectUris,
  redirectAllows,
  registerDynamically,
} from './dynamic-registration.ts';

/** A client id that the user got from the operator of the authorization server. */
export interface GivenClient {
  clientId: string;
  clientSecret?: string | undefined;
  /** Set if the client authenticates with a key instead of a secret (RFC 7523 section 2.2). */
  privateKey?: PrivateJwk | undefined;
}

/** Options of {@link obtainRegistration}. */
export interface RegistrationOptions extends DynamicRegistrationOptions {
  /** A client registered beforehand; it takes precedence (A5-01, A5-11). */
  given?: GivenClient | undefined;
  /**
   * URL of this client's metadata document, https with a path: the client id at authorization servers that
   * support such documents.
   */
  clientIdMetadataUrl?: string | undefined;
  /** A stored client id that the authorization server rejects, so that another client is registered. */
  refused?: string | undefined;
}

/** A client to log in with, and its origin. */
export interface ObtainedRegistration {
  registration: Registration;
  /** `kept`: from the store. `new`: registered just now. */
  how: 'given' | 'kept' | 'metadata_document' | 'new';
}

/**
 * Finds the client to log in with, in the order of the specification: the given one, or one that was given
 * earlier; this client's metadata document if the server supports it; one registered dynamically earlier; a
 * new one.
 * A client id registered at another issuer is never used. If it was a given one, the user has to decide. The
 * URL of a metadata document is a client id everywhere (A5-10, T-184). Concurrent logins, in this process or
 * others on the same store, register once.
 * @param context fetch, clock and limits
 * @param found the result of discovery
 * @param store the store of registrations. A new client is stored at once. A given client or a metadata
 *   document is stored by {@link keepRegistration} after the login has succeeded
 * @param options redirect URIs, and the ids of this client
 * @throws ClientError `authorization_server_changed`, and those of {@link registerDynamically}
 * @see MCP authorization "Client Registration Approaches" (A5-01)
 */
export async function obtainRegistration(
  context: ClientContext,
  found: Pick<DiscoveredServer, 'server' | 'authorizationServer'>,
  store: CredentialStore,
  options: RegistrationOptions,
): Promise<ObtainedRegistration> {
  const as = found.authorizationServer;
  const kept = await findOwn(found.server, as.issuer, store);
  if (options.given === undefined && kept?.source === 'given') return { registration: kept, how: 'kept' };
  const moved = await findGivenElsewhere(found, store, options.given);
  if (moved !== undefined && (options.given === undefined || options.given.clientId === moved.clientId))
    throw new ClientError(
      'authorization_server_changed',
      `${found.server} now names another authorization server: ${as.issuer} instead of ${moved.issuer}. The client id given for the earlier one is not used there; give one for ${as.issuer}, or log out first.`,
    );
  if (options.given !== undefined) {
    const same = await store.findRegistration(as.issuer, options.given.clientId);
    return { registration: givenRegistration(as, same, options.given, options), how: 'given' };
  }
  const document = documentRegistration(as, options);
  if (document !== undefined) return { registration: document, how: 'metadata_document' };
  return store.exclusively(JSON.stringify(['registration', as.issuer]), () =>
    keptOrNew(context, as, store, options),
  );
}

async function keptOrNew(
  context: ClientContext,
  as: UsableAuthorizationServer,
  store: CredentialStore,
  options: RegistrationOptions,
): Promise<ObtainedRegistration> {
  const kept = await store.findRegistration(as.issuer);
  if (kept !== undefined && kept.clientId !== options.refused && isUsable(kept, as, options, context.now()))
    return { registration: kept, how: 'kept' };
  const registration = await registerDynamically(context, as, options);
  await store.saveRegistration(registration);
  return { registration, how: 'new' };
}

/** Returns the client of a server's login if it is at this issuer; else that of the next login there. */
async function findOwn(
  server: string,
  issuer: string,
  store: CredentialStore,
): Promise<Registration | undefined> {
  const login = await store.findCredential(server);
  const isHere = login?.authorizationServer.issuer === issuer;
  return (isHere && (await store.findRegistration(issuer, login.clientId))) || store.findRegistration(issuer);
}

/**
 * Stores the client of a successful login, for the next logins at its issuer and the renewals of this one.
 * @param store the store, which has to contain the credential already: a client without credentials may be
 *   deleted
 * @param client the result of {@link obtainRegistration}
 */
export async function keepRegistration(
  store: CredentialStore,
  { registration, how }: ObtainedRegistration,
): Promise<void> {
  const { issuer, clientId } = registration;
  const isKept = how === 'kept' || how === 'new';
  if (isKept && (await store.findRegistration(issuer, clientId)) !== undefined) return;
  await store.saveRegistration(registration);
}

/**
 * Returns the given client of the former login, if that was at another authorization server: the one that is
 * given again, or that of the login.
 */
async function findGivenElsewhere(
  found: Pick<DiscoveredServer, 'server' | 'authorizationServer'>,
  store: CredentialStore,
  given: GivenClient | undefined,
): Promise<Registration | undefined> {
  const earlier = (await store.findFormerLogin(found.server))?.issuer;
  if (earlier === undefined || earlier === found.authorizationServer.issuer) return undefined;
  const again = given && (await store.findRegistration(earlier, given.clientId));
  const old = again ?? (await findOwn(found.server, earlier, store));
  return old?.source === 'given' ? old : undefined;
}

/** A given client without secret and key is the stored one with this id, if there is one. */
function givenRegistration(
  { issuer }: UsableAuthorizationServer,
  kept: Registration | undefined,
  { clientId, clientSecret, privateKey }: GivenClient,
  { redirectUri }: RegistrationOptions,
): Registration {
  const proof = clientSecret ?? privateKey;
  if (proof === undefined && kept !== undefined)
    return { ...kept, redirectUris: [redirectUri], source: 'given' };
  return { issuer, clientId, clientSecret, privateKey, redirectUris: [redirectUri], source: 'given' };
}

/** @see draft-ietf-oauth-client-id-metadata-document sections 2 and 3 */
function documentRegistration(
  as: UsableAuthorizationServer,
  { clientIdMetadataUrl, registeredRedirectUris = loopbackRedirectUris }: RegistrationOptions,
): Registration | undefined {
  if (clientIdMetadataUrl === undefined || as.client_id_metadata_document_supported !== true)
    return undefined;
  const { protocol, pathname } = requireUrl(clientIdMetadataUrl, 'The URL of the client metadata');
  if (protocol !== 'https:' || pathname === '/')
    throw new ClientError('bad_url', 'The URL of the client metadata has to be https, with a path.');
  return {
    issuer: as.issuer,
    clientId: clientIdMetadataUrl,
    tokenEndpointAuthMethod: 'none',
    redirectUris: [...registeredRedirectUris],
    source: 'metadata_document',
  };
}

function isUsable(
  registration: Registration,
  as: UsableAuthorizationServer,
  { redirectUri }: RegistrationOptions,
  now: number,
): boolean {
  const { source, redirectUris, clientSecretExpiresAt } = registration;
  if (clientSecretExpiresAt !== undefined && clientSecretExpiresAt <= now) return false;
  if (source === 'metadata_document' && as.client_id_metadata_document_supported !== true) return false;
  return redirectUris.some((registered) => redirectAllows(registered, redirectUri));
}

/** Optional parameters of a login request, which do not matter for the question if the client is known. */
const wishes = ['scope', 'resource', 'prompt', 'dpop_jkt'];

/** Phrases for an unknown client in the descriptions of servers that send another error code. */
const unknownClient =
  /\bclient\b.*\b(?:not (?:found|registered|exist)|unknown|unregistered|invalid)\b|\b(?:unknown|unregistered|invalid|no such) client\b/i;

/** Returns the status and the text of a refusal; undefined if the request is not refused. */
async function refusalOf(
  context: ClientContext,
  url: string,
): Promise<(EndpointRefusal & { status: number }) | undefined> {
  const ask = (accept: string): Promise<Response> => limitedFetch(context)(url, { headers: { accept } });
  try {
    const response = await ask('text/html');
    const { status } = response;
    return status === 400 || status === 401
      ? { ...(await readEndpointRefusal(response, ask)), status }
      : undefined;
  } catch (error) {
    if (error instanceof ClientError && error.reason === 'redirected') return undefined;
    throw error;
  }
}

function saysUnknown(error: string, description = ''): boolean {
  if (error === 'invalid_client') return true;
  if (isRedirectRefusal(error, description)) return false;
  return /^(?:invalid_request|unauthorized_client)$/.test(error) && unknownClient.test(description);
}

/**
 * Checks at the authorization endpoint, without a browser, if it still knows a client that was registered
 * earlier. Servers delete old registrations, and the user would only see their error page. An error page
 * without a machine-readable reason counts as an unknown client if a request without optional parameters is
 * rejected, too.
 * @param context fetch, clock and limits
 * @param authorizationUrl a complete authorization request, built for this check only
 * @returns false if the server rejects the client, and not only the requested scope or resource
 * @throws ClientError if there is no response
 * @see RFC 6749 section 4.1.2.1
 */
export async function isClientKnown(context: ClientContext, authorizationUrl: string): Promise<boolean> {
  const refusal = await refusalOf(context, authorizationUrl);
  if (refusal === undefined) return true;
  if (refusal.error !== undefined) return !saysUnknown(refusal.error, refusal.description);
  // A 401 without a reason may be meant for programs that are no browsers.
  if (refusal.status === 401) return true;
  const bare = new URL(authorizationUrl);
  for (const wish of wishes) bare.searchParams.delete(wish);
  return (await refusalOf(context, bare.href)) === undefined;
}
