import { formatScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { ClientIdentity, OAuthRefusal } from '../exchange.ts';
import { resourceParameter } from '../resource-parameter.ts';
import type { Credential, Registration } from '../stores/credential-store.ts';
import { requestTokens, type TokenRequest } from './token-request.ts';
import { toCredential } from './token-response.ts';

/** A renewed credential, or why the authorization server refused. */
export type Renewal =
  | { kind: 'refreshed'; credential: Credential }
  | {
      kind: 'refused';
      refusal: OAuthRefusal;
      /** The credential with the refresh token that came all the same: the one before is used up. */
      successor?: Credential | undefined;
    };

/**
 * Who a credential was issued to, and nobody else (A5-10). A client that got it for itself is kept in the credential; it
 * takes no part in the logins of users at the same issuer.
 * @param credential the credential
 * @param registration the client of this id, see `CredentialStore.findRegistration`; where it is not there, the id alone has
 *   to do, which is all that a public client has
 * @see RFC 6749 sections 2.1 and 6
 */
export function holderOf(
  { clientId, grant }: Credential,
  registration: Registration | undefined,
): ClientIdentity {
  if (grant !== undefined) return { clientId, ...grant };
  return registration?.clientId === clientId ? registration : { clientId, tokenEndpointAuthMethod: 'none' };
}

/**
 * Redeems a refresh token at the authorization server that issued it; a token that is bound to a key stays bound to
 * it. The old refresh token stays where the answer has none.
 * @param context where requests go through
 * @param credential what to renew
 * @param client who it was issued to
 * @returns the new credential, or why the server refused
 * @throws ClientError where no answer came
 * @see RFC 6749 section 6; RFC 8707 section 2.2; RFC 9449 section 5 (A7-01, A9-05, A13-09)
 */
export function refreshCredential(
  context: ClientContext,
  credential: Credential & { refreshToken: string },
  client: ClientIdentity,
): Promise<Renewal> {
  const parameters = { refresh_token: credential.refreshToken, ...resourceParameter(credential) };
  return renewBy(context, credential, client, { grantType: 'refresh_token', parameters });
}

/**
 * Renews a credential without its user: with its refresh token, or by repeating its grant.
 * @param context where requests go through
 * @param credential what to renew
 * @param client who it was issued to, see {@link holderOf}
 * @returns the new credential, or why the server refused; undefined where there is nothing to renew it with
 * @throws ClientError where no answer came
 * @see RFC 6749 sections 4.4.2 and 6 (A9-05, A13-02)
 */
export function renewCredential(
  context: ClientContext,
  credential: Credential,
  client: ClientIdentity,
): Promise<Renewal> | undefined {
  const { refreshToken, grant, scopes = [] } = credential;
  if (refreshToken !== undefined) return refreshCredential(context, { ...credential, refreshToken }, client);
  if (grant === undefined) return undefined;
  const parameters = {
    ...resourceParameter(credential),
    ...(scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
  };
  return renewBy(context, credential, client, { grantType: grant.type, parameters });
}

async function renewBy(
  context: ClientContext,
  credential: Credential,
  client: ClientIdentity,
  request: Pick<TokenRequest, 'grantType' | 'parameters'>,
): Promise<Renewal> {
  const { authorizationServer, resource, withoutResource, clientId, scopes } = credential;
  const { refreshToken, dpopKey, grant } = credential;
  const answer = await requestTokens(context, { authorizationServer, client, dpopKey, ...request });
  const withToken = (token: string | undefined): Credential | undefined =>
    token === undefined || token === refreshToken ? undefined : { ...credential, refreshToken: token };
  if (answer.kind === 'refused') return { ...answer, successor: withToken(answer.successor) };
  const login = { authorizationServer, resource, withoutResource, clientId, scopes };
  const issued = { ...login, refreshToken, dpopKey, grant, now: context.now() };
  try {
    return { kind: 'refreshed', credential: toCredential(answer.tokens, issued) };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const { message } = error;
    return { kind: 'refused', refusal: { message }, successor: withToken(answer.tokens.refresh_token) };
  }
}
