import * as oauth from 'oauth4webapi';
import { formatScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { type ClientIdentity, exchangeOptions } from '../exchange.ts';
import { describeDifference, quote } from '../quote.ts';
import { grantTypes, requestTokens } from '../tokens/token-request.ts';
import { requireUrl } from '../url-policy.ts';
import { grantRefused } from './grant-login.ts';

/** The identity provider of an organization, as the caller knows it. */
export interface IdentityProvider {
  /** Its issuer identifier. */
  issuer: string;
  /** Where absent, the metadata of the issuer tells. */
  tokenEndpoint?: string | undefined;
  /** The client that the user logged in with there. */
  client: ClientIdentity;
}

/** What the user's login at the identity provider gave (RFC 8693 section 3). */
export interface SubjectToken {
  token: string;
  type: 'id_token' | 'saml2' | 'access_token' | 'refresh_token';
}

const tokenTypes = 'urn:ietf:params:oauth:token-type:';

/** An identity provider that can be asked. */
type UsableIdentityProvider = {
  issuer: string;
  token_endpoint: string;
  token_endpoint_auth_methods_supported?: string[];
};

/**
 * Finds the token endpoint of an identity provider: as told, else by its OpenID metadata, else by its OAuth metadata.
 * @param context where requests go through
 * @param provider the identity provider
 * @throws ClientError `bad_url`, `no_metadata`, `issuer_mismatch`
 * @see RFC 8414 section 3; OpenID Connect Discovery 1.0 section 4
 */
export async function findIdentityProvider(
  context: ClientContext,
  provider: IdentityProvider,
): Promise<UsableIdentityProvider> {
  const { issuer, tokenEndpoint } = provider;
  const { dangerouslyAllowHttp } = context;
  const check = (url: unknown) =>
    requireUrl(url, 'The token endpoint of the identity provider', { dangerouslyAllowHttp }).href;
  if (tokenEndpoint !== undefined) return { issuer, token_endpoint: check(tokenEndpoint) };
  const place = requireUrl(issuer, 'The identity provider', { dangerouslyAllowHttp });
  for (const algorithm of ['oidc', 'oauth2'] as const) {
    const response = await oauth.discoveryRequest(place, { ...exchangeOptions(context), algorithm });
    const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
    const {
      issuer: named,
      token_endpoint: endpoint,
      token_endpoint_auth_methods_supported: methods,
    } = Object(document) as Record<string, unknown>;
    if (named === undefined) continue;
    if (named !== issuer)
      throw new ClientError(
        'issuer_mismatch',
        `The metadata of the identity provider names another issuer: ${describeDifference(issuer, String(named))}.`,
      );
    const known = Array.isArray(methods)
      ? { token_endpoint_auth_methods_supported: methods.map(String) }
      : {};
    return { issuer, token_endpoint: check(endpoint), ...known };
  }
  throw new ClientError(
    'no_metadata',
    `The identity provider ${issuer} publishes no metadata. Give its token endpoint.`,
  );
}

/** What an identity assertion is for. */
export interface AssertionPurpose {
  /** Issuer of the authorization server of the MCP server. */
  audience: string;
  /** The MCP server, by its resource identifier. */
  resource: string;
  scopes: readonly string[];
}

/**
 * Exchanges what the user's login at the identity provider gave for an assertion (ID-JAG) that one authorization
 * server will take for one MCP server.
 * @param context where requests go through
 * @param provider the identity provider
 * @param subject what the login gave
 * @param purpose what the assertion is for
 * @returns the assertion, a JWT that is not for this client to judge
 * @throws ClientError `token_refused` and others of {@link grantRefused}, and those of {@link findIdentityProvider}
 * @see RFC 8693 section 2; draft-ietf-oauth-identity-assertion-authz-grant section 4.3 (A13-05)
 */
export async function requestIdentityAssertion(
  context: ClientContext,
  provider: IdentityProvider,
  subject: SubjectToken,
  { audience, resource, scopes }: AssertionPurpose,
): Promise<string> {
  const answer = await requestTokens(context, {
    authorizationServer: await findIdentityProvider(context, provider),
    client: provider.client,
    grantType: grantTypes.tokenExchange,
    parameters: {
      requested_token_type: `${tokenTypes}id-jag`,
      audience,
      resource,
      subject_token: subject.token,
      subject_token_type: `${tokenTypes}${subject.type}`,
      ...(scopes.length === 0 ? {} : { scope: formatScope(scopes) }),
    },
    otherTokenTypes: ['n_a'],
    name: 'identity provider',
  });
  if (answer.kind === 'refused') throw grantRefused(answer.refusal);
  const { issued_token_type: issued, access_token: assertion } = answer.tokens;
  if (issued !== `${tokenTypes}id-jag`)
    throw new ClientError(
      'token_refused',
      `The identity provider gave a token of another type, ${quote(issued)}, than the assertion it was asked for (id-jag).`,
    );
  return assertion;
}
