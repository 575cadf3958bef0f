import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { LoginRequiredError } from '../client-error.ts';
import type { ClientContext, Fetch } from '../context.ts';
import { isRepeatable, sendAuthorized } from '../dpop/send-authorized.ts';
import { redirectToSpelling } from '../http-answer.ts';
import { canonicalServerUrl } from '../server-url.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import type { Authorizer } from './authorizer.ts';
import { formerLogin } from './former-login.ts';
import { LoginSession, type Recovery } from './login-session.ts';
import { nameOperation } from './operation.ts';
import { readRequiredScopes } from './scope-refusal.ts';

/** What a session may do by itself. */
export interface AuthorizationOptions {
  /**
   * Called where there is no credential, where it is rejected and cannot be renewed, and where it allows too little.
   * Without one, the caller is told what is needed.
   */
  authorizer?: Authorizer | undefined;
  /**
   * True gives the token to every URL of the server's origin: the old HTTP+SSE transport posts to one that the server
   * names. By default the server's own URL alone gets it.
   */
  wholeOrigin?: boolean | undefined;
}

/**
 * Opens the login of one MCP server.
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
 * A fetch that carries the login of one MCP server: it adds the token, renews it in time, once more on a 401, and gets
 * another one by the authorizer where that does not do, or where the token allows too little. Without a login, a
 * request goes out without a token first. Requests to other URLs go out without a token, and redirects are never
 * followed. A server that refuses whatever it is sent is left alone for a while.
 * @param context where requests go through
 * @param url URL of the MCP server
 * @param store where the login is kept
 * @param options who gets new credentials, and which URLs may have the token
 * @returns a fetch for an MCP transport; it rejects with LoginRequiredError where only a login helps, and with
 *   InsufficientScopeError on a 403 that asks for scopes
 * @see RFC 6750 sections 2.1 and 3.1; MCP authorization "Token Handling" (A7-05, A8-01, A8-07, A8-08, T-184, T-186)
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
        used = await session.widen(used, required, operation(), challenge);
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
