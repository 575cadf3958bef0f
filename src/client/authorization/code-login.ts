import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, type DiscoveryOptions, discover } from '../discovery/discovery.ts';
import {
  type GivenClient,
  isClientKnown,
  keepRegistration,
  type ObtainedRegistration,
  obtainRegistration,
  type RegistrationOptions,
} from '../registration/registration.ts';
import type { Authorizer } from '../session/login-session.ts';
import type { Credential, CredentialStore, Registration } from '../stores/credential-store.ts';
import { chooseDpopKey } from '../tokens/dpop.ts';
import { finishAuthorization, startAuthorization } from './authorization.ts';

/** Options of {@link loginWithCode}. */
export interface CodeLoginOptions extends DiscoveryOptions {
  /** The store for the login. */
  store: CredentialStore;
  /** Sends the user through the authorization. It may be called twice, one request after the other. */
  agent: AuthorizationAgent;
  /** A client registered beforehand. */
  given?: GivenClient | undefined;
  /** URL of this client's metadata document, see `RegistrationOptions`. */
  clientIdMetadataUrl?: string | undefined;
  /**
   * Allows this client to register if registration is restricted; it is sent to the registration endpoint
   * only (RFC 7591 section 3).
   */
  initialAccessToken?: string | undefined;
  /** The name on the consent page of a client that is registered now. */
  clientName?: string | undefined;
  /** Scopes to request instead of those that the server names. */
  scopes?: readonly string[] | undefined;
  /** Binds the token to a key of this client. If undefined, only if the server requires it (A13-11). */
  dpop?: boolean | undefined;
  /** True if the authorization server certainly knows the stored client: the check of it is then skipped. */
  isClientSure?: boolean | undefined;
  progress?: CodeLoginProgress | undefined;
}

/** Callbacks during a login, in order. */
export interface CodeLoginProgress {
  discovered?(found: DiscoveredServer): void;
  /** Called again if the client was registered anew, because the authorization server no longer knew it. */
  registered?(registration: Registration, how: ObtainedRegistration['how']): void;
}

/**
 * Logs in to an MCP server with the authorization code flow: discovery, registration, the user's consent,
 * tokens.
 * If the authorization server no longer knows a client that it registered earlier, or accepts only the exact
 * port of its redirect URI, the client is registered anew, once (CL-2, CL-3). A failed login ends no other
 * login: a given client is stored after the login has succeeded, and a replaced one is kept for its logins.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the store, the agent, and the scopes to request
 * @returns the result of discovery, and the credential, which is already stored
 * @throws ClientError; DiscoveryError with the trace; the errors of the agent
 * @see MCP authorization "Authorization Flow Steps"; RFC 6749 section 4.1 (A6-06, A7-01)
 */
export async function loginWithCode(
  context: ClientContext,
  url: string,
  options: CodeLoginOptions,
): Promise<{ found: DiscoveredServer; credential: Credential }> {
  const found = await discover(context, url, options);
  options.progress?.discovered?.(found);
  return { found, credential: await loginToDiscovered(context, found, options) };
}

/**
 * Logs in like {@link loginWithCode}, to a server that was discovered before.
 * @param context fetch, clock and limits
 * @param found the result of discovery
 * @param options see {@link loginWithCode}
 * @returns the credential, which is already stored
 * @throws ClientError; the errors of the agent
 */
export async function loginToDiscovered(
  context: ClientContext,
  found: DiscoveredServer,
  options: CodeLoginOptions,
): Promise<Credential> {
  const { store, progress } = options;
  const client = await obtainKnownClient(context, found, options);
  const { issuer, clientId, source } = client.registration;
  progress?.registered?.(client.registration, client.how);
  try {
    return await authorize(context, found, client, options);
  } catch (error) {
    if (!isStale(error) || client.how === 'given') throw error;
    if (error.reason === 'client_unknown' || client.how === 'new')
      await store.forgetRegistration(issuer, clientId);
    if (client.how !== 'kept' || source !== 'dynamic') throw error;
  }
  const wanted = { ...registrationOptions(options), refused: clientId };
  const anew = await obtainRegistration(context, found, store, wanted);
  progress?.registered?.(anew.registration, anew.how);
  return authorize(context, found, anew, options);
}

/** Reasons after which a newly registered client may succeed. */
const staleReasons: readonly ClientError['reason'][] = ['client_unknown', 'redirect_uri_refused'];

function isStale(error: unknown): error is ClientError {
  return error instanceof ClientError && staleReasons.includes(error.reason);
}

function registrationOptions(options: CodeLoginOptions): RegistrationOptions {
  const { agent, given, clientIdMetadataUrl, clientName, initialAccessToken } = options;
  const { redirectUri, registeredRedirectUris } = agent;
  return {
    redirectUri,
    registeredRedirectUris,
    given,
    clientIdMetadataUrl,
    clientName,
    initialAccessToken,
  };
}

/** Returns a client that the authorization server knows, as far as this can be checked without a browser. */
async function obtainKnownClient(
  context: ClientContext,
  found: DiscoveredServer,
  options: CodeLoginOptions,
): Promise<ObtainedRegistration> {
  const { store, agent, scopes } = options;
  const wanted = registrationOptions(options);
  const client = await obtainRegistration(context, found, store, wanted);
  if (client.how !== 'kept' || client.registration.source !== 'dynamic' || options.isClientSure)
    return client;
  const { redirectUri } = agent;
  const { url } = await startAuthorization(found, client.registration, { redirectUri, scopes });
  // The endpoint may be reachable from the user's browser only.
  if (await isClientKnown(context, url).catch(() => true)) return client;
  return obtainRegistration(context, found, store, { ...wanted, refused: client.registration.clientId });
}

async function authorize(
  context: ClientContext,
  found: DiscoveredServer,
  client: ObtainedRegistration,
  { store, agent, scopes, dpop }: CodeLoginOptions,
): Promise<Credential> {
  const { registration } = client;
  const { redirectUri } = agent;
  const dpopKey = await chooseDpopKey(found, dpop);
  const { url, pending } = await startAuthorization(found, registration, { redirectUri, scopes, dpopKey });
  const credential = await finishAuthorization(
    context,
    pending,
    await agent.receive({ url, state: pending.state }),
  );
  await store.saveCredential(found.server, credential);
  await keepRegistration(store, client);
  return credential;
}

/** An authorization request that waits for its response. */
export interface AuthorizationRequest {
  /** The URL to open in the user's browser. */
  url: string;
  /** The `state` of a valid response. */
  state: string;
}

/**
 * Sends the user through one authorization request, and returns the response: with a browser, pasted text, or
 * a test.
 */
export interface AuthorizationAgent {
  /** Redirect URI of this login. It already receives responses. */
  redirectUri: string;
  /** Redirect URIs for a new client; one of them has to allow `redirectUri`. */
  registeredRedirectUris: readonly string[];
  /**
   * Waits for the response. It may be called again after the first call has ended: if the authorization
   * server no longer knows the client, a new one is registered, and the user is asked again.
   * @returns the query of the redirect, unchecked
   * @throws ClientError `login_timed_out`, `authorization_denied`
   */
  receive(request: AuthorizationRequest): Promise<URLSearchParams>;
}

/**
 * Creates an authorizer with the authorization code flow: whenever a session needs a credential, the agent
 * sends the user through an authorization. Each time, discovery starts with the current challenge. If the
 * server now names another authorization server, the client is registered there (A5-10).
 * @param context fetch, clock and limits
 * @param options as for a login; `scopes` are those of the first login, a step-up requests all granted and
 *   required ones
 * @see MCP authorization "Step-Up Authorization Flow" (A3-09, A8-07)
 */
export function codeAuthorizer(
  context: ClientContext,
  options: Omit<CodeLoginOptions, 'challenge' | 'isClientSure'>,
): Authorizer {
  return async ({ server, why, scopes = options.scopes, challenge }) => {
    const isClientSure = why === 'insufficient_scope';
    const { credential } = await loginWithCode(context, server, {
      ...options,
      scopes,
      challenge,
      isClientSure,
    });
    return credential;
  };
}
