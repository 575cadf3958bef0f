import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, type DiscoveryOptions, discover } from '../discovery/discovery.ts';
import { chooseDpopKey } from '../dpop/dpop-key.ts';
import {
  type GivenClient,
  keepRegistration,
  type ObtainedRegistration,
  obtainRegistration,
  type RegistrationOptions,
} from '../registration/registration.ts';
import { isClientKnown } from '../registration/registration-check.ts';
import type { Credential, CredentialStore, Registration } from '../stores/credential-store.ts';
import { finishAuthorization, startAuthorization } from './authorization.ts';
import type { AuthorizationAgent } from './authorization-agent.ts';

/** What the caller of a login chooses. */
export interface CodeLoginOptions extends DiscoveryOptions {
  /** Where the login is kept. */
  store: CredentialStore;
  /** Takes the user through the authorization. It may be asked twice, one request after the other. */
  agent: AuthorizationAgent;
  /** A client registered beforehand. */
  given?: GivenClient | undefined;
  /** URL of this client's metadata document, see `RegistrationOptions`. */
  clientIdMetadataUrl?: string | undefined;
  /** Lets this client register where not everybody may; it goes to the registration endpoint and nowhere else (RFC 7591 section 3). */
  initialAccessToken?: string | undefined;
  /** Shown on the consent page of a client that is registered now. */
  clientName?: string | undefined;
  /** Scopes to ask for instead of those the server names. */
  scopes?: readonly string[] | undefined;
  /** Whether the token is bound to a key of this client; where absent, only if the server takes no other (A13-11). */
  dpop?: boolean | undefined;
  /** True where the authorization server surely knows the kept client: it is then not asked about it beforehand. */
  isClientSure?: boolean | undefined;
  progress?: CodeLoginProgress | undefined;
}

/** Told what happens during a login, in order. */
export interface CodeLoginProgress {
  discovered?(found: DiscoveredServer): void;
  /** A second time where the authorization server had forgotten the first client. */
  registered?(registration: Registration, how: ObtainedRegistration['how']): void;
}

/**
 * Logs in to an MCP server with the authorization code flow: discovery, registration, the user's consent, tokens.
 * Where the authorization server has forgotten a client it registered earlier, or takes no other port than that of its
 * redirect URI, the client is registered anew, once (CL-2, CL-3). A login that fails ends no other one: a client that the
 * user gave for it is kept once it has succeeded, and one that is replaced stays for the logins that were made with it.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options where the login is kept, who takes the user through it, and what to ask for
 * @returns what was discovered, and the credential, which the store has already
 * @throws ClientError; DiscoveryError with the trace; what the agent throws
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
 * The same, where discovery is done: registration, the user's consent, tokens.
 * @param context fetch, clock and limits
 * @param found what discovery found
 * @param options see {@link loginWithCode}
 * @returns the credential, which the store has already
 * @throws ClientError; what the agent throws
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

/** Reasons for which a client registered anew gets in where the kept one does not. */
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

/** @returns a client that the authorization server knows, as far as it tells before a browser opens */
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
  // The endpoint may be within reach of the user's browser only.
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
