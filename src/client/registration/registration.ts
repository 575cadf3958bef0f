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
 * metadata document is an id everywhere (A5-10, T-184).
 * @param context where requests go through
 * @param found what discovery found
 * @param store where registrations are kept; the chosen one is kept there
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
  const kept = await store.findRegistration(as.issuer);
  if (options.given === undefined && kept?.source === 'given') return { registration: kept, how: 'kept' };
  const moved = await findGivenElsewhere(found, store);
  if (moved !== undefined && (options.given === undefined || options.given.clientId === moved.clientId))
    throw new ClientError(
      'authorization_server_changed',
      `${found.server} now names another authorization server: ${as.issuer} instead of ${moved.issuer}. The client id given for the earlier one is not used there; give one for ${as.issuer}, or log out first.`,
    );
  const keep = async (registration: Registration, how: ObtainedRegistration['how']) => {
    await store.saveRegistration(registration);
    return { registration, how };
  };
  if (options.given !== undefined) return keep(givenRegistration(as, kept, options.given, options), 'given');
  const document = documentRegistration(as, options);
  if (document !== undefined) return keep(document, 'metadata_document');
  if (kept !== undefined && isUsable(kept, as, options.redirectUri, context.now()))
    return { registration: kept, how: 'kept' };
  return keep(await registerDynamically(context, as, options), 'new');
}

/** Reasons for which an authorization server refuses a client, whoever comes with it. */
const refusals: readonly ClientError['reason'][] = ['client_unknown', 'authorization_denied'];

/**
 * What an authorization server ends a login with that would have gone well with the same client: its user declined, it is
 * busy, or something else of the request is wrong (RFC 6749 section 4.1.2.1, RFC 8707 section 2, OpenID Connect Core 1.0
 * section 3.1.2.6).
 */
const notOfClient =
  /^(?:access_denied|server_error|temporarily_unavailable|invalid_(?:scope|target)|(?:login|consent|interaction|account_selection)_required)$/;

/**
 * Takes back what a refused login kept of the client that was given for it, so that the next one is not tried with it
 * again: what was kept before is there again, another secret of the same client included. A client that was kept before as
 * it was given stays, as only the user can bring it again.
 * @param store where registrations are kept
 * @param issuer of the authorization server
 * @param given the client that was given for this login, if one was
 * @param before what was kept before this login
 * @param error what ended the login
 * @returns whether it was taken back
 */
export async function takeBackGiven(
  store: CredentialStore,
  issuer: string,
  given: GivenClient | undefined,
  before: Registration | undefined,
  error: unknown,
): Promise<boolean> {
  if (given === undefined || isKept(given, before)) return false;
  if (!(error instanceof ClientError) || !refusals.includes(error.reason)) return false;
  if (error.oauthError !== undefined && notOfClient.test(error.oauthError)) return false;
  await store.forgetRegistration(issuer, given.clientId);
  if (before !== undefined) await store.saveRegistration(before);
  return true;
}

/** Whether a client was kept as it is given now; without secret and key it is the one of its id, see {@link givenRegistration}. */
function isKept(
  { clientId, clientSecret, privateKey }: GivenClient,
  kept: Registration | undefined,
): boolean {
  if (clientId !== kept?.clientId) return false;
  if (clientSecret !== undefined) return clientSecret === kept.clientSecret;
  return privateKey === undefined || JSON.stringify(privateKey) === JSON.stringify(kept.privateKey);
}

/** @returns the client given for the authorization server of the kept login, where that is another one by now */
async function findGivenElsewhere(
  found: Pick<DiscoveredServer, 'server' | 'authorizationServer'>,
  store: CredentialStore,
): Promise<Registration | undefined> {
  const earlier = (await store.findFormerLogin(found.server))?.issuer;
  if (earlier === undefined || earlier === found.authorizationServer.issuer) return undefined;
  const old = await store.findRegistration(earlier);
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
  if (proof === undefined && kept?.clientId === clientId)
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
  redirectUri: string,
  now: number,
): boolean {
  const { source, redirectUris, clientSecretExpiresAt } = registration;
  if (clientSecretExpiresAt !== undefined && clientSecretExpiresAt <= now) return false;
  if (source === 'metadata_document' && as.client_id_metadata_document_supported !== true) return false;
  return redirectUris.some((registered) => redirectAllows(registered, redirectUri));
}
