import { type CodeLoginProgress, loginWithCode } from '../authorization/code-login.ts';
import type { ClientContext } from '../context.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import type { GivenClient } from '../registration/registration.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import { openLoginAgent } from './login-agent.ts';
import type { PasteTerminal } from './paste.ts';

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
  /** URL of this client's metadata document, see `RegistrationOptions`. */
  clientIdMetadataUrl?: string | undefined;
  /** Where the answer can be pasted, should the user's browser be on another machine. */
  paste?: PasteTerminal | undefined;
  /** Port of the redirect listener; a free one unless told. */
  callbackPort?: number | undefined;
  /** Longest wait for the user, in milliseconds. */
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
  const { paste, callbackPort, timeoutMs, ...wanted } = options;
  const { open } = progress;
  const agent = await openLoginAgent(context, { open, paste, callbackPort, timeoutMs });
  try {
    return await loginWithCode(context, url, { ...wanted, agent, progress });
  } finally {
    await agent.close();
  }
}
