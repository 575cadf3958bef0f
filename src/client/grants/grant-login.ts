import { formatScope } from '../../oauth/scope.ts';
import { chooseScopes } from '../authorization/authorization.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, type DiscoveryOptions, discover } from '../discovery/discovery.ts';
import { type ClientIdentity, type OAuthRefusal, resourceParameter } from '../oauth-client.ts';
import type { Authorizer } from '../session/login-session.ts';
import type { Credential, CredentialStore, RepeatableGrant } from '../stores/credential-store.ts';
import { chooseDpopKey } from '../tokens/dpop.ts';
import { credentialIssuer, grantTypes, requestTokens, toCredential } from '../tokens/token-request.ts';

/** Options of a login without a user. */
export interface GrantLoginOptions extends DiscoveryOptions {
  /** The store for the credential. */
  store: CredentialStore;
  /** Scopes to request instead of those that the server names. */
  scopes?: readonly string[] | undefined;
  /** Binds the token to a key of this client. If undefined, only if the server requires it (A13-11). */
  dpop?: boolean | undefined;
}

/** The result of discovery, and the credential, which is already stored. */
export interface GrantLogin {
  found: DiscoveredServer;
  credential: Credential;
}

/** A grant for one authorization server. */
export interface Grant {
  client: ClientIdentity;
  grantType: string;
  /** Parameters besides `resource` and `scope`. */
  parameters: Readonly<Record<string, string>>;
  /** The data to repeat the grant with. */
  repeatable?: RepeatableGrant | undefined;
  /** Set for the grant of a workload. */
  workload?: true | undefined;
}

/**
 * Returns the scopes of a grant without a user. `offline_access` is not added: the client is never offline.
 */
function grantScopes(found: DiscoveredServer, wanted: readonly string[] | undefined): string[] {
  const { scopes_supported: _, ...authorizationServer } = found.authorizationServer;
  return chooseScopes({ ...found, authorizationServer }, wanted);
}

/** @throws ClientError `authorization_server_changed` (A5-10, T-184) */
async function requireKnownIssuer(found: DiscoveredServer, options: GrantLoginOptions): Promise<void> {
  const { issuer } = found.authorizationServer;
  const expected = options.issuer ?? (await options.store.findFormerLogin(found.server))?.issuer ?? issuer;
  if (expected === issuer) return;
  throw new ClientError(
    'authorization_server_changed',
    `${found.server} names the authorization server ${issuer}, but the client belongs to ${expected}. Nothing was sent there. If the server has moved, register a client there and log out first.`,
  );
}

/**
 * Creates the error for a refusal of a token endpoint.
 * @param refusal the refusal
 * @returns `server_error` if the refusal does not concern the grant: it may succeed later
 * @see RFC 6749 section 5.2
 */
export function grantRefused({ error, message }: OAuthRefusal): ClientError {
  if (error === 'invalid_client') return new ClientError('client_unknown', message);
  const passing = [undefined, 'server_error', 'temporarily_unavailable'].includes(error);
  return new ClientError(passing ? 'server_error' : 'token_refused', message);
}

/**
 * Logs in to an MCP server with a grant that needs no user at the authorization server: discovery, one token
 * request, the store. A refusal is final: there is no second attempt, and no other grant. A refresh token is
 * not stored, because the grant can be repeated.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the store, and the scopes to request
 * @param prepare creates the grant after discovery and its checks
 * @throws ClientError `authorization_server_changed`, those of {@link grantRefused}; DiscoveryError with the
 *   trace
 * @see RFC 6749 sections 4.4 and 4.5; RFC 8707 section 2.2 (A7-01, A13-02, A13-10)
 */
export async function loginWithGrant(
  context: ClientContext,
  url: string,
  options: GrantLoginOptions,
  prepare: (found: DiscoveredServer, scopes: readonly string[]) => Grant | Promise<Grant>,
): Promise<GrantLogin> {
  const found = await discover(context, url, { ...options, withoutCode: true });
  await requireKnownIssuer(found, options);
  const { authorizationServer, resource, withoutResource } = found;
  const scopes = grantScopes(found, options.scopes);
  const { client, grantType, parameters, repeatable, workload } = await prepare(found, scopes);
  const dpopKey = await chooseDpopKey(found, options.dpop);
  const answer = await requestTokens(context, {
    authorizationServer,
    client,
    grantType,
    parameters: {
      ...parameters,
      ...resourceParameter(found),
      ...(scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
    },
    dpopKey,
  });
  if (answer.kind === 'refused') throw grantRefused(answer.refusal);
  const { refresh_token: _, ...tokens } = answer.tokens;
  const credential = toCredential(tokens, {
    authorizationServer: credentialIssuer(authorizationServer),
    resource,
    withoutResource,
    clientId: client.clientId,
    scopes: scopes.length === 0 ? undefined : scopes,
    dpopKey,
    grant: repeatable,
    workload,
    now: context.now(),
  });
  await options.store.saveCredential(found.server, credential);
  return { found, credential };
}

/**
 * Creates an authorizer from a login: whenever a session needs a credential, the login runs again.
 * @param options those of the login; a step-up requests all granted and required scopes instead of `scopes`
 * @param login the login
 * @see MCP authorization "Step-Up Authorization Flow" (A8-07)
 */
export function grantAuthorizer<Options extends DiscoveryOptions & Pick<GrantLoginOptions, 'scopes'>>(
  options: Options,
  login: (url: string, options: Options) => Promise<GrantLogin>,
): Authorizer {
  return async ({ server, scopes = options.scopes, challenge }) =>
    (await login(server, { ...options, scopes, challenge })).credential;
}

/** Options of {@link loginWithClientCredentials}. */
export interface ClientCredentialsOptions extends GrantLoginOptions {
  /** The client, registered beforehand, with a secret or a private key. */
  client: ClientIdentity;
}

/** Returns the data to repeat the grant with; undefined for a key that no store can hold. */
function repeatableWith(client: ClientIdentity): RepeatableGrant | undefined {
  const { clientSecret, privateKey, tokenEndpointAuthMethod } = client;
  if (privateKey !== undefined && !('kty' in privateKey)) return undefined;
  return { type: 'client_credentials', clientSecret, privateKey, tokenEndpointAuthMethod };
}

/**
 * Logs a machine in to an MCP server, as itself. The client's secret or key is stored in the credential, so
 * that every user of the store can renew the token. A `CryptoKey` cannot be stored: then only the authorizer
 * can renew it.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the client, and the store for the credential
 * @throws as {@link loginWithGrant}; ClientError `bad_key`
 * @see RFC 6749 section 4.4; RFC 7523 section 2.2 (A13-01, A13-02)
 */
export function loginWithClientCredentials(
  context: ClientContext,
  url: string,
  options: ClientCredentialsOptions,
): Promise<GrantLogin> {
  const { client } = options;
  return loginWithGrant(context, url, options, () => ({
    client,
    grantType: 'client_credentials',
    parameters: {},
    repeatable: repeatableWith(client),
  }));
}

/** Creates an authorizer that runs {@link loginWithClientCredentials}. */
export function clientCredentialsAuthorizer(
  context: ClientContext,
  options: ClientCredentialsOptions,
): Authorizer {
  return grantAuthorizer(options, (url, chosen) => loginWithClientCredentials(context, url, chosen));
}

/** Options of {@link loginWithWorkloadIdentity}. */
export interface WorkloadIdentityOptions extends GrantLoginOptions {
  /** The client id of the workload at the authorization server. */
  clientId: string;
  /**
   * Returns the JWT from the platform of the workload, e.g. from a file that the platform keeps up to date.
   * @param audience issuer of the authorization server: the required audience of the JWT
   */
  assertion: (audience: string) => string | Promise<string>;
}

/**
 * Logs a workload in to an MCP server with the identity from its platform: without a secret, in one attempt,
 * with no other grant.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the workload, and the store for the credential
 * @throws as {@link loginWithGrant}
 * @see RFC 7523 sections 2.1 and 3 (A13-10)
 */
export function loginWithWorkloadIdentity(
  context: ClientContext,
  url: string,
  options: WorkloadIdentityOptions,
): Promise<GrantLogin> {
  const { clientId, assertion } = options;
  return loginWithGrant(context, url, options, async ({ authorizationServer: { issuer } }) => ({
    client: { clientId, tokenEndpointAuthMethod: 'none' },
    grantType: grantTypes.jwtBearer,
    parameters: { assertion: await assertion(issuer) },
    workload: true,
  }));
}

/**
 * Creates an authorizer that runs {@link loginWithWorkloadIdentity}. A JWT that was rejected is not sent
 * again.
 * @param context fetch, clock and limits
 * @param options the workload, and the store for the credential
 */
export function workloadIdentityAuthorizer(
  context: ClientContext,
  options: WorkloadIdentityOptions,
): Authorizer {
  let refused: string | undefined;
  return grantAuthorizer(options, async (url, chosen) => {
    let sent: string | undefined;
    const assertion = async (audience: string): Promise<string> => {
      sent = await options.assertion(audience);
      if (sent === refused)
        throw new ClientError(
          'token_refused',
          'The authorization server has rejected this identity of the workload before. It is not sent again.',
        );
      return sent;
    };
    try {
      return await loginWithWorkloadIdentity(context, url, { ...chosen, assertion });
    } catch (error) {
      if (error instanceof ClientError && error.reason === 'token_refused') refused = sent;
      throw error;
    }
  });
}
