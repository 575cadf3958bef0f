import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, type DiscoveryOptions, discover } from '../discovery/discovery.ts';
import { loopbackRedirectUris } from '../registration/dynamic-registration.ts';
import {
  type GivenClient,
  keepRegistration,
  type ObtainedRegistration,
  obtainRegistration,
} from '../registration/registration.ts';
import type { Authorizer } from '../session/login-session.ts';
import type { Credential, CredentialStore, Registration } from '../stores/credential-store.ts';
import { type DeviceLoginOptions, loginWithDevice } from './device-authorization.ts';
import { type GrantLogin, grantAuthorizer } from './grant-login.ts';

/** Options of {@link loginToServerWithDevice}. */
export interface DeviceServerLoginOptions extends DeviceLoginOptions, DiscoveryOptions {
  /** The store for client and credential. */
  store: CredentialStore;
  /** A client registered beforehand. */
  given?: GivenClient | undefined;
  /** URL of this client's metadata document, see `RegistrationOptions`. */
  clientIdMetadataUrl?: string | undefined;
  /**
   * Allows this client to register if registration is restricted; it is sent to the registration endpoint
   * only (RFC 7591 section 3).
   */
  initialAccessToken?: string | undefined;
  /** The name that the authorization server shows to the user. */
  clientName?: string | undefined;
  /** Called with the client; again if it had to be registered anew. */
  registered?: ((registration: Registration, how: ObtainedRegistration['how']) => void) | undefined;
}

/**
 * Logs in to an MCP server from a device without a browser: discovery, registration, the code, tokens, the
 * store. A client that was registered without this grant, or that the server no longer knows, is registered
 * anew, once.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the store, how to show the code, and the scopes to request
 * @throws as {@link loginWithDevice}; DiscoveryError with the trace
 * @see RFC 8628
 */
export async function loginToServerWithDevice(
  context: ClientContext,
  url: string,
  options: DeviceServerLoginOptions,
): Promise<GrantLogin> {
  const found = await discover(context, url, { ...options, withoutCode: true });
  return { found, credential: await loginToDiscoveredWithDevice(context, found, options) };
}

/**
 * Logs in like {@link loginToServerWithDevice}, to a server that was discovered before.
 * @param context fetch, clock and limits
 * @param found the result of discovery
 * @param options see {@link loginToServerWithDevice}
 * @returns the credential, which is already stored
 * @throws as {@link loginWithDevice}
 */
export async function loginToDiscoveredWithDevice(
  context: ClientContext,
  found: DiscoveredServer,
  options: DeviceServerLoginOptions,
): Promise<Credential> {
  const client = await obtainClient(context, found, options);
  try {
    return await loginAs(context, found, client, options);
  } catch (error) {
    const isForgotten = error instanceof ClientError && error.reason === 'client_unknown';
    const { clientId, source } = client.registration;
    if (!isForgotten || client.how === 'given' || source !== 'dynamic') throw error;
    return loginAs(context, found, await obtainClient(context, found, options, clientId), options);
  }
}

async function obtainClient(
  context: ClientContext,
  found: DiscoveredServer,
  options: DeviceServerLoginOptions,
  refused?: string,
): Promise<ObtainedRegistration> {
  const { store, given, clientIdMetadataUrl, clientName, initialAccessToken } = options;
  const [redirectUri] = loopbackRedirectUris;
  const wanted = { redirectUri, given, clientIdMetadataUrl, clientName, initialAccessToken, refused };
  const client = await obtainRegistration(context, found, store, wanted);
  options.registered?.(client.registration, client.how);
  return client;
}

async function loginAs(
  context: ClientContext,
  found: DiscoveredServer,
  client: ObtainedRegistration,
  options: DeviceServerLoginOptions,
): Promise<Credential> {
  const credential = await loginWithDevice(context, found, client.registration, options);
  await options.store.saveCredential(found.server, credential);
  await keepRegistration(options.store, client);
  return credential;
}

/** Creates an authorizer that runs {@link loginToServerWithDevice}. */
export function deviceAuthorizer(context: ClientContext, options: DeviceServerLoginOptions): Authorizer {
  return grantAuthorizer(options, (url, chosen) => loginToServerWithDevice(context, url, chosen));
}
