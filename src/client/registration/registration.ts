import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { UsableAuthorizationServer } from '../discovery/authorization-server.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import type { CredentialStore, PrivateJwk, Registration } from '../stores/credential-store.ts';
import { requireUrl } from '../url-policy.ts';
import { type DynamicRegistrationOptions, registerDynamically } from './dynamic-registration.ts';
import { loopbackRedirectUris, redirectAllows } from './redirect-uris.ts';

/** A client id that the user got from the authorization server's operator. */
export interface GivenClient {
  clientId: string;
  clientSecret?: string | undefined;
  /** Where the client authenticates with a key instead of a secret (RFC 7523 section 2.2). */
  privateKey?: PrivateJwk | undefined;
}

/** What the caller wants of a registration. */
export interface RegistrationOptions extends DynamicRegistrationOptions {
  /** A client registered beforehand; it wins over all others (A5-01, A5-11). */
  given?: GivenClient | undefined;
  /**
   * URL of this client's metadata document, https with a path: its id wherever the authorization server reads such
   * documents.
   */
  clientIdMetadataUrl?: string | undefined;
  /** Client id of a kept client with which this login does not get in, so that another is registered. */
  refused?: string | undefined;
}

/** A client to log in with, and how it was come by. */
export interface ObtainedRegistration {
  registration: Registration;
  /** `kept`: from the store. `new`: registered just now. */
  how: 'given' | 'kept' | 'metadata_document' | 'new';
}

/**
 * Finds the client to log in with, in the order of the specification: the given one, or one that was given earlier;
 * this client's metadata document where the server reads it; one registered dynamically earlier; a new one.
 * A client id registered at another issuer is never used; if it was a given one, the user has to decide. The URL of a
 * metadata document is an id everywhere (A5-10, T-184). Logins that begin at once, in this process or others on the same
 * store, register once.
 * @param context where requests go through
 * @param found what discovery found
 * @param store where registrations are kept. One that was made now is kept at once; one that the user brings, or a
 *   document, once {@link keepRegistration} is called, for it may not get in
 * @param options redirect URIs, and the ids this client has
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

/** @returns the client of a server's login, where it is at this issuer; else that of the next login there */
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
 * Keeps the client of a login that has succeeded, for the next logins at its issuer and the renewals of this one.
 * @param store where registrations are kept, and the credential already: a client without one may give way to another
 * @param client the client, as {@link obtainRegistration} gave it
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
 * @returns the client given for the authorization server of the kept login, where that is another one by now: the one that
 *   is given again, or that of the login
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

/** A given client without secret and key is the one kept, where one of this id is. */
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
