import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { LoginRequiredError } from '../client-error.ts';
import type { ClientContext, Fetch } from '../context.ts';
import { redirectToSpelling } from '../limited-fetch.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import { canonicalServerUrl } from '../url-policy.ts';
import { formerLogin } from './former-login.ts';
import { type Authorizer, LoginSession, type Recovery } from './login-session.ts';
import { readRequiredScopes } from './scope-refusals.ts';
import { isRepeatable, sendAuthorized } from './send-authorized.ts';

/** Options of {@link withAuthorization}. */
export interface AuthorizationOptions {
  /**
   * Called if there is no credential, if it is rejected and cannot be renewed, and if it lacks scopes.
   * Without one, the request rejects with an error that names what is needed.
   */
  authorizer?: Authorizer | undefined;
  /**
   * True sends the token to all URLs of the server's origin: the old HTTP+SSE transport posts to a URL that
   * the server names. By default only the server's own URL gets it.
   */
  wholeOrigin?: boolean | undefined;
}

/**
 * Opens the login to one MCP server.
 * @param url URL of the MCP server
 * @throws ClientError `bad_url`
 */
export function openLoginSession(
  context: ClientContext,
  url: string,
  store: CredentialStore,
  { authorizer }: AuthorizationOptions = {},
): { server: string; session: LoginSession } {
  const server = canonicalServerUrl(url, { dangerouslyAllowHttp: context.dangerouslyAllowHttp });
  return { server, session: new LoginSession({ context, server, store, authorizer }) };
}

/**
 * Creates a fetch with the login to one MCP server. It adds the token, renews it before it expires and once
 * after a 401, and calls the authorizer if renewal fails or the token lacks scopes. Without a login, the
 * first request is sent without a token. Requests to other URLs carry no token, and redirects are not
 * followed. A server that rejects every token is not contacted for a while.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param store the store with the login
 * @param options the authorizer, and the URLs that may get the token
 * @returns a fetch for an MCP transport; it rejects with LoginRequiredError if only a login helps, and with
 *   InsufficientScopeError after a 403 that requires scopes
 * @see RFC 6750 sections 2.1 and 3.1; MCP authorization "Token Handling" (A7-05, A8-01, A8-07, A8-08, T-184,
 *   T-186)
 */
export function withAuthorization(
  context: ClientContext,
  url: string,
  store: CredentialStore,
  options: AuthorizationOptions = {},
): Fetch {
  const { server, session } = openLoginSession(context, url, store, options);

  const mayHaveToken = (to: string | URL): boolean =>
    options.wholeOrigin
      ? URL.parse(String(to))?.origin === new URL(server).origin
      : canonicalResource(String(to)) === server;
  const send = (to: string | URL, init: RequestInit, credential?: Credential): Promise<Response> => {
    if (credential !== undefined) return sendAuthorized(context, credential, to, init);
    const headers = new Headers(init.headers);
    headers.delete('authorization');
    headers.delete('dpop');
    return context.fetch(to, { ...init, headers, redirect: 'manual' });
  };

  return async (to, init = {}) => {
    if (!mayHaveToken(to)) return send(to, init);
    const operation = (): string => nameOperation(init);
    const tried: Recovery = {};
    let used = await session.current();
    session.admit(used, operation);
    for (;;) {
      let response = await send(to, init, used);
      const spelling = isRepeatable(init.body) ? redirectToSpelling(to, response) : undefined;
      if (spelling !== undefined) {
        await response.body?.cancel();
        response = await send(spelling, init, used);
      }
      const challenge = response.headers.get('www-authenticate');
      const required = readRequiredScopes(response, used);
      if (response.status !== 401 && required === undefined) {
        session.accept(used, operation);
        return response;
      }
      await response.body?.cancel();
      if (required === undefined) used = await session.replace(used, challenge, tried);
      else {
        session.accept(used, undefined);
        used = await session.stepUp(used, required, operation(), challenge);
      }
      if (!isRepeatable(init.body))
        throw new LoginRequiredError(
          server,
          'The login was renewed, but this request cannot be sent twice. Repeat it.',
          formerLogin(used),
        );
    }
  };
}

/** Members of `params` that name the target of a request. */
const subjects = ['name', 'uri'] as const;

/**
 * Names the operation of a request to an MCP server, so that a repeated rejection is recognized.
 * @returns the JSON-RPC method and its target (`tools/call notes_add`); the HTTP method if the body is no
 *   message
 * @see MCP authorization "Step-Up Authorization Flow" (A8-08)
 */
export function nameOperation({ method = 'GET', body }: RequestInit): string {
  if (typeof body !== 'string') return method;
  try {
    const message = Object(JSON.parse(body)) as { method?: unknown; params?: unknown };
    if (typeof message.method !== 'string') return method;
    const parameters = Object(message.params) as Record<string, unknown>;
    const subject = subjects.map((member) => parameters[member]).find((value) => typeof value === 'string');
    return subject === undefined ? message.method : `${message.method} ${subject}`;
  } catch {
    return method;
  }
}
