import { formatScope } from '../../oauth/scope.ts';
import type { ClientContext } from '../context.ts';
import type { OAuthRefusal } from '../exchange.ts';
import type { Credential, Registration } from '../stores/credential-store.ts';
import { requestTokens, type TokenRequest } from './token-request.ts';
import { toCredential } from './token-response.ts';

/** A renewed credential, or why the authorization server refused. */
export type Renewal =
  | { kind: 'refreshed'; credential: Credential }
  | { kind: 'refused'; refusal: OAuthRefusal };

/**
 * Redeems a refresh token at the authorization server that issued it; a token that is bound to a key stays bound to
 * it. The old refresh token stays where the answer has none.
 * @returns the new credential, or why the server refused
 * @throws ClientError where no answer came
 * @see RFC 6749 section 6; RFC 8707 section 2.2; RFC 9449 section 5 (A7-01, A9-05, A13-09)
 */
export function refreshCredential(
  context: ClientContext,
  credential: Credential & { refreshToken: string },
  registration: Registration,
): Promise<Renewal> {
  const { refreshToken, resource } = credential;
  const parameters = { refresh_token: refreshToken, resource };
  return renewBy(context, credential, registration, { grantType: 'refresh_token', parameters });
}

/**
 * Renews a credential without its user: with its refresh token, or by the grant it came from where the client got it
 * for itself and is kept with what it authenticates by.
 * @returns the new credential, or why the server refused; undefined where there is nothing to renew it with
 * @throws ClientError where no answer came
 * @see RFC 6749 sections 4.4.2 and 6 (A9-05, A13-02)
 */
export function renewCredential(
  context: ClientContext,
  credential: Credential,
  registration: Registration,
): Promise<Renewal> | undefined {
  const { refreshToken, grant, resource, scopes = [] } = credential;
  if (refreshToken !== undefined)
    return refreshCredential(context, { ...credential, refreshToken }, registration);
  const provable = registration.clientSecret !== undefined || registration.privateKey !== undefined;
  if (grant !== 'client_credentials' || !provable) return undefined;
  const parameters = { resource, ...(scopes.length === 0 ? {} : { scope: formatScope(scopes) }) };
  return renewBy(context, credential, registration, { grantType: grant, parameters });
}

async function renewBy(
  context: ClientContext,
  credential: Credential,
  client: Registration,
  request: Pick<TokenRequest, 'grantType' | 'parameters'>,
): Promise<Renewal> {
  const { authorizationServer, resource, clientId, scopes, refreshToken, dpopKey, grant } = credential;
  const answer = await requestTokens(context, { authorizationServer, client, dpopKey, ...request });
  if (answer.kind === 'refused') return answer;
  const issued = { authorizationServer, resource, clientId, scopes, refreshToken, dpopKey, grant };
  return { kind: 'refreshed', credential: toCredential(answer.tokens, { ...issued, now: context.now() }) };
}
