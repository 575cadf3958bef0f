import { type CodeLoginProgress, loginToDiscovered } from '../authorization/code-login.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, type DiscoveryOptions, discover } from '../discovery/discovery.ts';
import type { DeviceInstructions } from '../grants/device-authorization.ts';
import { loginToDiscoveredWithDevice } from '../grants/device-login.ts';
import type { GivenClient } from '../registration/registration.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import { openLoginAgent } from './login-agent.ts';
import type { PasteTerminal } from './paste.ts';

/** Options of {@link login}. */
export interface LoginOptions extends DiscoveryOptions {
  /** The store for the login. */
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
  /** The name on the consent page of a client that is registered now. */
  clientName?: string | undefined;
  /** Scopes to request instead of those that the server names. */
  scopes?: readonly string[] | undefined;
  /** Binds the token to a key of this client. If undefined, only if the server requires it (A13-11). */
  dpop?: boolean | undefined;
  /**
   * Lets the user enter a code on another device: `always`, or `where_offered`, which continues with the code
   * flow if the authorization server does not offer device logins or rejects the first request. By default
   * never.
   */
  device?: 'always' | 'where_offered' | undefined;
  /** The terminal to paste the response in, if the user's browser is on another machine. */
  paste?: PasteTerminal | undefined;
  /** Port of the redirect listener (default: a free one). */
  callbackPort?: number | undefined;
  /** Maximum wait for the user, in milliseconds. */
  timeoutMs?: number | undefined;
}

/** Callbacks during a login, in order. */
export interface LoginProgress extends CodeLoginProgress {
  /** The user has to open this URL in a browser. */
  open(url: string, redirectUri: string): void | Promise<void>;
  /** The user has to enter a code on any device. `expiresAt` is the end of the code or of the wait. */
  showCode?(instructions: DeviceInstructions): void | Promise<void>;
}

/**
 * Logs a user in to an MCP server: discovery, registration, consent, tokens. The user consents in a browser
 * on this machine, in one on another machine whose redirect they paste, or with a code on any device.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the store, how to reach the user, and the scopes to request
 * @param progress callbacks
 * @returns the result of discovery, and the credential, which is already stored
 * @throws ClientError; DiscoveryError with the trace
 * @see MCP authorization "Authorization Flow Steps"; RFC 8252 section 4.1; RFC 8628 (CL-6)
 */
export async function login(
  context: ClientContext,
  url: string,
  options: LoginOptions,
  progress: LoginProgress,
): Promise<{ found: DiscoveredServer; credential: Credential }> {
  const { paste, callbackPort, timeoutMs, device, ...wanted } = options;
  const found = await discover(
    context,
    url,
    device === 'always' ? { ...options, withoutCode: true } : options,
  );
  progress.discovered?.(found);
  const byDevice = await tryDevice(context, found, options, progress);
  if (byDevice !== undefined) return { found, credential: byDevice };
  const agent = await openLoginAgent(context, {
    open: (authorizationUrl) => progress.open(authorizationUrl, agent.redirectUri),
    paste,
    callbackPort,
    preferredPort: await registeredPort(found, options.store),
    timeoutMs,
  });
  try {
    const credential = await loginToDiscovered(context, found, { ...wanted, agent, progress });
    await agent.close({ loggedInTo: found.server });
    return { found, credential };
  } catch (error) {
    await agent.close('failed');
    throw error;
  }
}

/** Returns the port of the stored client's redirect URI: some servers accept no other (CL-3). */
async function registeredPort(found: DiscoveredServer, store: CredentialStore): Promise<number | undefined> {
  const kept = await store.findRegistration(found.authorizationServer.issuer);
  const ports = (kept?.redirectUris ?? []).map((uri) => Number(URL.parse(uri)?.port));
  return ports.find((port) => port > 0);
}

/** Returns the credential; undefined if the code flow has to be used. */
async function tryDevice(
  context: ClientContext,
  found: DiscoveredServer,
  options: LoginOptions,
  progress: LoginProgress,
): Promise<Credential | undefined> {
  const { device } = options;
  const isOffered = found.authorizationServer.device_authorization_endpoint !== undefined;
  if (device === undefined || (device === 'where_offered' && !isOffered)) return undefined;
  let isShown = false;
  try {
    return await loginToDiscoveredWithDevice(context, found, {
      ...options,
      signal: options.timeoutMs === undefined ? undefined : giveUpAfter(options.timeoutMs),
      registered: (registration, how) => progress.registered?.(registration, how),
      show: (instructions) => {
        isShown = true;
        const waitsUntil = context.now() + (options.timeoutMs ?? Infinity) / 1000;
        return progress.showCode?.({
          ...instructions,
          expiresAt: Math.min(instructions.expiresAt, waitsUntil),
        });
      },
    });
  } catch (error) {
    if (device === 'where_offered' && !isShown && error instanceof ClientError) return undefined;
    throw error;
  }
}

/** Returns a signal whose reason is `login_timed_out`. */
function giveUpAfter(timeoutMs: number): AbortSignal {
  const controller = new AbortController();
  const seconds = Math.round(timeoutMs / 1000);
  const reason = new ClientError('login_timed_out', `The code was not entered within ${seconds} s.`);
  setTimeout(() => controller.abort(reason), timeoutMs).unref();
  return controller.signal;
}
