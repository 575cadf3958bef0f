import { parseChallenges } from '../../oauth/challenge.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import { isScopeToken, missingScopes, parseScope, scopeUnion } from '../../oauth/scope.ts';
import { InsufficientScopeError, LoginRequiredError } from '../client-error.ts';
import type { ClientContext, Fetch } from '../context.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import { freshCredential } from '../tokens/tokens.ts';
import { requireUrl } from '../url-policy.ts';

/**
 * A fetch that carries the login of one MCP server: it adds the bearer token, renews it in time, and renews it once
 * more on a 401. Requests to any other URL go out without a token, and redirects are never followed.
 * @param context where requests go through
 * @param url URL of the MCP server, the only one that gets the token
 * @param store where the login is kept
 * @returns a fetch for an MCP transport; it rejects with LoginRequiredError where only a login helps, and with
 *   InsufficientScopeError on a 403 that asks for scopes
 * @see RFC 6750 sections 2.1 and 3.1; MCP authorization "Token Handling" (A7-05, A8-01, A8-07, T-184, T-186)
 */
export function withAuthorization(context: ClientContext, url: string, store: CredentialStore): Fetch {
  const target = requireUrl(URL.parse(url)?.href ?? url, 'The MCP server URL', {
    dangerouslyAllowHttp: context.dangerouslyAllowHttp,
  });
  const server = canonicalResource(target.href) ?? target.href;
  let refused: string | undefined;

  const send = (to: string | URL, init: RequestInit, credential?: Credential): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.delete('authorization');
    if (credential !== undefined) headers.set('authorization', `Bearer ${credential.accessToken}`);
    return context.fetch(to, { ...init, headers, redirect: 'manual' });
  };

  return async (to, init = {}) => {
    if (canonicalResource(String(to)) !== server) return send(to, init);
    const credential = await freshCredential(context, store, server);
    if (credential !== undefined && credential.accessToken === refused)
      throw new LoginRequiredError(server, 'The server does not accept the token of this login.');
    let response = await send(to, init, credential);
    let used = credential;
    if (response.status === 401) {
      await response.body?.cancel();
      if (credential === undefined)
        throw new LoginRequiredError(server, 'You are not logged in to this server.');
      used = await freshCredential(context, store, server, credential.accessToken);
      if (used === undefined || used.accessToken === credential.accessToken || !isRepeatable(init.body))
        throw new LoginRequiredError(server, 'The server does not accept the token of this login.');
      response = await send(to, init, used);
      if (response.status === 401) {
        refused = used.accessToken;
        await response.body?.cancel();
        throw new LoginRequiredError(
          server,
          'The server does not accept the token of this login, not even a new one. Its authorization server may issue tokens for another audience.',
        );
      }
    }
    const required = response.status === 403 ? readRequiredScopes(response.headers) : undefined;
    if (required === undefined) return response;
    await response.body?.cancel();
    const held = used?.scopes ?? [];
    throw new InsufficientScopeError(server, {
      required,
      missing: missingScopes(held, required),
      union: scopeUnion(held, required),
    });
  };
}

/** @returns the scopes an `insufficient_scope` challenge asks for; undefined where there is no such challenge (RFC 6750 section 3.1) */
function readRequiredScopes(headers: Headers): string[] | undefined {
  const challenge = parseChallenges(headers.get('www-authenticate') ?? '').find(
    ({ scheme, parameters }) => scheme === 'bearer' && parameters.error === 'insufficient_scope',
  );
  return challenge && parseScope(challenge.parameters.scope).filter(isScopeToken);
}

function isRepeatable(body: RequestInit['body']): boolean {
  return body === undefined || body === null || typeof body === 'string' || body instanceof URLSearchParams;
}
