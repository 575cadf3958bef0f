import { formatScope } from '../../oauth/scope.ts';
import { chooseScopes } from '../authorization/authorization.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type DiscoveredServer, type DiscoveryOptions, discover } from '../discovery/discovery.ts';
import { chooseDpopKey } from '../dpop/dpop-key.ts';
import type { ClientIdentity, OAuthRefusal } from '../exchange.ts';
import { resourceParameter } from '../resource-parameter.ts';
import type { Authorizer } from '../session/authorizer.ts';
import type { Credential, CredentialStore, RepeatableGrant } from '../stores/credential-store.ts';
import { requestTokens } from '../tokens/token-request.ts';
import { credentialIssuer, toCredential } from '../tokens/token-response.ts';

/** What the caller of a grant without a user chooses. */
export interface GrantLoginOptions extends DiscoveryOptions {
  /** Where the credential is kept. */
  store: CredentialStore;
  /** Scopes to ask for instead of those the server names. */
  scopes?: readonly string[] | undefined;
  /** Whether the token is bound to a key of this client; where absent, only if the server takes no other (A13-11). */
  dpop?: boolean | undefined;
}

/** What was discovered, and the credential, which the store has already. */
export interface GrantLogin {
  found: DiscoveredServer;
  credential: Credential;
}

/** A grant for one authorization server. */
export interface Grant {
  client: ClientIdentity;
  grantType: string;
  /** Besides `resource` and `scope`. */
  parameters: Readonly<Record<string, string>>;
  /** What is kept to repeat it with. */
  repeatable?: RepeatableGrant | undefined;
  /** Whether it is a workload's. */
  workload?: true | undefined;
}

/** The scopes of a grant without a user. Nobody is ever offline in it, so `offline_access` is not added. */
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
 * The failure that a refusal of a token endpoint is.
 * @param refusal what the endpoint said
 * @returns `server_error` where it said nothing about the grant: the same may be good later
 * @see RFC 6749 section 5.2
 */
export function grantRefused({ error, message }: OAuthRefusal): ClientError {
  if (error === 'invalid_client') return new ClientError('client_unknown', message);
  const passing = [undefined, 'server_error', 'temporarily_unavailable'].includes(error);
  return new ClientError(passing ? 'server_error' : 'token_refused', message);
}

/**
 * Logs in to an MCP server with a grant that needs no user at the authorization server: discovery, one token request,
 * the store. A refusal is final: it is not tried again, nor with another grant. A refresh token is not kept, the grant
 * is repeated instead.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options where the credential is kept, and what to ask for
 * @param prepare makes the grant for what was found, which is trusted by now
 * @throws ClientError `authorization_server_changed`, those of {@link grantRefused}; DiscoveryError with the trace
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
 * Makes an authorizer of a login: whenever a session needs a credential, the login runs again.
 * @param options those of the login; a step-up asks for all scopes held and required instead of `scopes`
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
