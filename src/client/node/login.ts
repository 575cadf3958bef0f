import type { AuthorizationAgent } from '../authorization/authorization-agent.ts';
import { type CodeLoginProgress, loginWithCode } from '../authorization/code-login.ts';
import type { ClientContext } from '../context.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { loopbackRedirectUris } from '../registration/redirect-uris.ts';
import type { GivenClient } from '../registration/registration.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import { loginTimeoutMs, openLoopback } from './loopback.ts';

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
export interface LoginProgress extends CodeLoginProgress {
  /** The user has to open this URL. */
  open(url: string): void | Promise<void>;
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
  const { store, given, scopes, allowedEndpointOrigins, timeoutMs = loginTimeoutMs } = options;
  const listener = await openLoopback();
  const agent: AuthorizationAgent = {
    redirectUri: listener.redirectUri,
    registeredRedirectUris: loopbackRedirectUris,
    receive: async ({ url: authorizationUrl, state }) => {
      const answer = listener.receive(state, timeoutMs);
      const [query] = await Promise.all([answer, progress.open(authorizationUrl)]);
      return query;
    },
  };
  try {
    return await loginWithCode(context, url, {
      store,
      agent,
      given,
      scopes,
      allowedEndpointOrigins,
      progress,
    });
  } finally {
    await listener.close();
  }
}
