import { finishAuthorization, startAuthorization } from '../authorization/authorization.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, discover } from '../discovery/discovery.ts';
import { type GivenClient, obtainRegistration } from '../registration/registration.ts';
import { isClientKnown } from '../registration/registration-check.ts';
import type { Credential, CredentialStore, Registration } from '../stores/credential-store.ts';
import { type LoopbackListener, loginTimeoutMs, openLoopback } from './loopback.ts';

/** What the caller of a login chooses. */
export interface LoginOptions {
  /** Where the login is kept. */
  store: CredentialStore;
  /** A client registered beforehand. */
  given?: GivenClient | undefined;
  /** Scopes to ask for instead of those the server names. */
  scopes?: readonly string[] | undefined;
  /** See `DiscoveryOptions`. */
  allowedEndpointOrigins?: readonly string[] | undefined;
  /** Longest wait for the browser, in milliseconds. */
  timeoutMs?: number | undefined;
}

/** What happens during a login, in order. */
export interface LoginProgress {
  discovered(found: DiscoveredServer): void;
  registered(registration: Registration, how: 'given' | 'kept' | 'new'): void;
  /** The user has to open this URL. */
  open(url: string): void | Promise<void>;
}

async function prepare(
  context: ClientContext,
  found: DiscoveredServer,
  redirectUri: string,
  { store, given, scopes }: LoginOptions,
): Promise<{ registration: Registration; how: 'given' | 'kept' | 'new' }> {
  const client = await obtainRegistration(context, found, store, { redirectUri, given });
  if (client.how !== 'kept' || client.registration.source === 'given') return client;
  const { url } = await startAuthorization(found, client.registration, { redirectUri, scopes });
  if (await isClientKnown(context, url)) return client;
  await store.forgetRegistration(client.registration.issuer, client.registration.clientId);
  return obtainRegistration(context, found, store, { redirectUri });
}

async function authorize(
  context: ClientContext,
  found: DiscoveredServer,
  listener: LoopbackListener,
  options: LoginOptions,
  progress: LoginProgress,
): Promise<Credential> {
  const { redirectUri } = listener;
  const { store, scopes, timeoutMs = loginTimeoutMs } = options;
  const { registration, how } = await prepare(context, found, redirectUri, options);
  progress.registered(registration, how);
  const { url, pending } = await startAuthorization(found, registration, { redirectUri, scopes });
  const answer = listener.receive(pending.state, timeoutMs);
  const [query] = await Promise.all([answer, progress.open(url)]);
  try {
    const credential = await finishAuthorization(context, pending, query);
    await store.saveCredential(found.server, credential);
    return credential;
  } catch (error) {
    if (error instanceof ClientError && error.reason === 'client_unknown')
      await store.forgetRegistration(registration.issuer, registration.clientId);
    throw error;
  }
}

/**
 * Logs in to an MCP server: discovery, registration, the user's consent in a browser, tokens. The listener for the
 * redirect is open before the URL is handed out.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options where the login is kept, and what to ask for
 * @param progress told each step
 * @returns what was discovered, and the credential, which the store has already
 * @throws ClientError; DiscoveryError with the trace
 * @see MCP authorization "Authorization Flow Steps"; RFC 8252 section 4.1
 */
export async function login(
  context: ClientContext,
  url: string,
  options: LoginOptions,
  progress: LoginProgress,
): Promise<{ found: DiscoveredServer; credential: Credential }> {
  const { allowedEndpointOrigins = [] } = options;
  const found = await discover(context, url, { allowedEndpointOrigins });
  progress.discovered(found);
  const listener = await openLoopback();
  try {
    return { found, credential: await authorize(context, found, listener, options, progress) };
  } finally {
    await listener.close();
  }
}
