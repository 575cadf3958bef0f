import { calculateJwkThumbprint, type JWK } from 'jose';
import * as oauth from 'oauth4webapi';
import { formatScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { requirePkce, type UsableAuthorizationServer } from '../discovery/authorization-server.ts';
import type { DiscoveredServer } from '../discovery/discovery.ts';
import { dpopHandle } from '../dpop/dpop-handle.ts';
import { clientAuthentication, exchangeOptions, oauthClient, readRefusal } from '../exchange.ts';
import { describeDifference, quote } from '../quote.ts';
import { isRedirectRefusal } from '../registration/redirect-uris.ts';
import { resourceParameter } from '../resource-parameter.ts';
import type { Credential, PrivateJwk, Registration } from '../stores/credential-store.ts';
import { withNonceRetry } from '../tokens/token-request.ts';
import { credentialIssuer, toCredential } from '../tokens/token-response.ts';
import { requireUrl } from '../url-policy.ts';

/** An authorization request under way. It holds the code verifier: keep it secret, keep it with this login only. */
export interface PendingAuthorization {
  /** The validated authorization server, kept before the redirect so that the answer is judged by it (A6-06). */
  authorizationServer: UsableAuthorizationServer;
  registration: Registration;
  redirectUri: string;
  resource: string;
  /** See `DiscoveryOptions`. */
  withoutResource?: true | undefined;
  state: string;
  codeVerifier: string;
  /** What was asked for; empty where `scope` was left out. */
  scopes: string[];
  /** The key the token is to be bound to, if any. */
  dpopKey?: PrivateJwk | undefined;
}

/**
 * Chooses the scopes to ask for: the user's, else the challenge's, else all that the resource publishes, else none.
 * `offline_access` comes on top only where the authorization server lists it.
 * @param found what discovery found
 * @param wanted scopes the user named
 * @returns the scopes; none means that `scope` is left out
 * @see MCP authorization "Scope Selection Strategy" (A8-06, A9-02)
 */
export function chooseScopes(
  found: Pick<DiscoveredServer, 'authorizationServer' | 'protectedResource' | 'challengedScopes'>,
  wanted?: readonly string[],
): string[] {
  const base = wanted ?? found.challengedScopes ?? found.protectedResource?.scopes_supported ?? [];
  if (base.length === 0) return [];
  const offline = found.authorizationServer.scopes_supported?.includes('offline_access') === true;
  return [...new Set([...base, ...(offline ? ['offline_access'] : [])])];
}

/**
 * Builds an authorization request.
 * @param found what discovery found
 * @param registration the client
 * @param options redirect URI, scopes the user named, and the key of the token where it is to be bound to one; the
 *   code is then bound to it too
 * @returns the URL to open in a browser, and what has to be kept until its answer
 * @throws ClientError `authorization_server_changed`, `no_pkce`
 * @see RFC 6749 section 4.1.1; RFC 7636 section 4.3; RFC 8707 section 2.1; RFC 9449 section 10 (A6-01, A6-04, A7-01, A13-09)
 */
export async function startAuthorization(
  found: DiscoveredServer,
  registration: Registration,
  options: {
    redirectUri: string;
    scopes?: readonly string[] | undefined;
    dpopKey?: PrivateJwk | undefined;
  },
): Promise<{ url: string; pending: PendingAuthorization }> {
  const { authorizationServer, resource, withoutResource } = found;
  if (registration.issuer !== authorizationServer.issuer)
    throw new ClientError(
      'authorization_server_changed',
      `The client is registered at ${registration.issuer}, not at ${authorizationServer.issuer}.`,
    );
  requirePkce(authorizationServer);
  const { redirectUri, dpopKey } = options;
  const scopes = chooseScopes(found, options.scopes);
  const state = oauth.generateRandomState();
  const codeVerifier = oauth.generateRandomCodeVerifier();
  const url = new URL(authorizationServer.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: registration.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...resourceParameter(found),
    ...(scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
    ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
    ...(dpopKey === undefined ? {} : { dpop_jkt: await calculateJwkThumbprint(dpopKey as JWK) }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const kept = { authorizationServer, registration, redirectUri, resource, state, codeVerifier, scopes };
  return { url: url.href, pending: { ...kept, withoutResource, dpopKey } };
}

/**
 * Judges an authorization response: state, then issuer, byte for byte, then the error or code. Nothing of a response
 * with the wrong state or issuer is used or shown.
 * @param pending the request it should answer
 * @param parameters query of the redirect
 * @returns the checked parameters, which alone can be exchanged
 * @throws ClientError `authorization_response_rejected`, `issuer_mismatch`, `authorization_denied`, `redirect_uri_refused`
 * @see RFC 9207 section 2.4; RFC 6749 sections 4.1.2 and 10.12 (A6-04, A6-08, A6-09, A6-10, T-026, T-187)
 */
export function processAuthorizationResponse(
  pending: PendingAuthorization,
  parameters: URLSearchParams,
): URLSearchParams {
  const { authorizationServer: as } = pending;
  const once = (name: string): string | undefined => {
    const [value, ...more] = parameters.getAll(name);
    if (more.length > 0)
      throw new ClientError('authorization_response_rejected', `The answer has the parameter ${name} twice.`);
    return value;
  };
  if (once('state') !== pending.state)
    throw new ClientError(
      'authorization_response_rejected',
      'The answer does not belong to this login: its state is missing or another one. Log in again.',
    );
  const issuer = once('iss');
  if (issuer === undefined && as.authorization_response_iss_parameter_supported === true)
    throw new ClientError(
      'issuer_mismatch',
      `The answer does not say that it comes from ${as.issuer}, which always says so. It may come from elsewhere.`,
    );
  if (issuer !== undefined && issuer !== as.issuer)
    throw new ClientError(
      'issuer_mismatch',
      `The answer comes from another authorization server: ${describeDifference(as.issuer, issuer)}.`,
    );
  const error = once('error');
  if (error !== undefined) {
    const description = once('error_description');
    throw new ClientError(
      isRedirectRefusal(error, description) ? 'redirect_uri_refused' : 'authorization_denied',
      `The authorization server ended the login: ${quote(error)}${description === undefined ? '' : ` (${quote(description)})`}.`,
      { oauthError: error },
    );
  }
  if (!once('code'))
    throw new ClientError('authorization_response_rejected', 'The answer has neither a code nor an error.');
  try {
    return oauth.validateAuthResponse(
      as,
      { client_id: pending.registration.clientId },
      parameters,
      pending.state,
    );
  } catch {
    throw new ClientError(
      'authorization_response_rejected',
      'The answer does not follow the standard of the authorization code flow.',
    );
  }
}

/**
 * KeyedQueue an authorization response into tokens. Nothing is sent before the response passed every check.
 * @param context where requests go through
 * @param pending the request it answers
 * @param parameters query of the redirect
 * @returns the credential
 * @throws ClientError those of {@link processAuthorizationResponse}; `token_refused`
 * @see RFC 6749 section 4.1.3; RFC 7636 section 4.5; RFC 8707 section 2.2; RFC 9449 section 5 (A7-01, A13-09)
 */
export async function finishAuthorization(
  context: ClientContext,
  pending: PendingAuthorization,
  parameters: URLSearchParams,
): Promise<Credential> {
  const { authorizationServer: as, registration } = pending;
  const checked = processAuthorizationResponse(pending, parameters);
  requireUrl(as.token_endpoint, 'The token endpoint', { dangerouslyAllowHttp: context.dangerouslyAllowHttp });
  const { resource, withoutResource, redirectUri, codeVerifier, dpopKey } = pending;
  const client = oauthClient(context, registration.clientId);
  try {
    const options = {
      ...exchangeOptions(context, { kind: 'token' }),
      additionalParameters: new URLSearchParams(resourceParameter(pending)),
      ...(dpopKey === undefined ? {} : { DPoP: await dpopHandle(context, dpopKey) }),
    };
    const authenticate = clientAuthentication(registration, as.token_endpoint_auth_methods_supported);
    const tokens = await withNonceRetry(async () => {
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        authenticate,
        checked,
        redirectUri,
        codeVerifier,
        options,
      );
      return oauth.processAuthorizationCodeResponse(as, client, response);
    });
    return toCredential(tokens, {
      authorizationServer: credentialIssuer(as),
      resource,
      withoutResource,
      clientId: registration.clientId,
      scopes: pending.scopes.length === 0 ? undefined : pending.scopes,
      dpopKey,
      now: context.now(),
    });
  } catch (thrown) {
    const { error, message } = await readRefusal(thrown, 'token endpoint');
    throw new ClientError(error === 'invalid_client' ? 'client_unknown' : 'token_refused', message);
  }
}
