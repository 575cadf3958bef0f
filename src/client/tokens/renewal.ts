import { formatScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type ClientIdentity, type OAuthRefusal, resourceParameter } from '../oauth-client.ts';
import type { Credential, Registration } from '../stores/credential-store.ts';
import { requestTokens, type TokenRequest, toCredential } from './token-request.ts';

/** A renewed credential, or the refusal of the authorization server. */
export type Renewal =
  | { kind: 'refreshed'; credential: Credential }
  | {
      kind: 'refused';
      refusal: OAuthRefusal;
      /**
       * The credential with a refresh token that came with the refusal: the earlier refresh token is already
       * used.
       */
      successor?: Credential | undefined;
    };

/**
 * Returns the client that a credential was issued to; no other may use it (A5-10). The client of a machine
 * login is stored in the credential, apart from the clients of users at the same issuer.
 * @param credential the credential
 * @param registration the client with this id, see `CredentialStore.findRegistration`; without it the client
 *   is taken as a public one
 * @see RFC 6749 sections 2.1 and 6
 */
export function clientOf(
  { clientId, grant }: Credential,
  registration: Registration | undefined,
): ClientIdentity {
  if (grant !== undefined) return { clientId, ...grant };
  return registration?.clientId === clientId ? registration : { clientId, tokenEndpointAuthMethod: 'none' };
}

/**
 * Redeems a refresh token at its authorization server. A token that is bound to a key stays bound to it. The
 * refresh token is kept if the response has no new one.
 * @param context fetch, clock and limits
 * @param credential the credential to renew
 * @param client the client that it was issued to
 * @returns the new credential, or the refusal of the server
 * @throws ClientError if there was no response
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
 * @param context fetch, clock and limits
 * @param credential the credential to renew
 * @param client the client that it was issued to, see {@link clientOf}
 * @returns the new credential, or the refusal of the server; undefined if it cannot be renewed
 * @throws ClientError if there was no response
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
