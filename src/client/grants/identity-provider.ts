import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oauth from 'oauth4webapi';
import { decodeBody, isSuccess, parseObject, readMembers } from '../../oauth/foreign-json.ts';
import { isSameIssuer } from '../../oauth/issuer.ts';
import { formatScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { limitedFetch } from '../limited-fetch.ts';
import type { ClientIdentity } from '../oauth-client.ts';
import { describeDifference, quote } from '../quote.ts';
import type { Authorizer } from '../session/login-session.ts';
import { grantTypes, requestTokens } from '../tokens/token-request.ts';
import { requireUrl } from '../url-policy.ts';
import {
  type GrantLogin,
  type GrantLoginOptions,
  grantAuthorizer,
  grantRefused,
  loginWithGrant,
} from './grant-login.ts';

/** The identity provider of an organization, as configured by the caller. */
export interface IdentityProvider {
  /** Its issuer identifier. */
  issuer: string;
  /** If absent, it is taken from the metadata of the issuer. */
  tokenEndpoint?: string | undefined;
  /** The client of the user's login there. */
  client: ClientIdentity;
}

/** A token from the user's login at the identity provider (RFC 8693 section 3). */
export interface SubjectToken {
  token: string;
  type: 'id_token' | 'saml2' | 'access_token' | 'refresh_token';
}

const tokenTypes = 'urn:ietf:params:oauth:token-type:';

/** An identity provider with its token endpoint. */
type UsableIdentityProvider = {
  issuer: string;
  token_endpoint: string;
  token_endpoint_auth_methods_supported?: string[];
};

/**
 * Finds the token endpoint of an identity provider: as configured, else from its OpenID metadata, else from
 * its OAuth metadata.
 * @param context fetch, clock and limits
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
    const send = limitedFetch(context, { followsWithinOrigin: true });
    const response = await oauth.discoveryRequest(place, {
      [oauth.customFetch]: send,
      [oauth.allowInsecureRequests]: true,
      algorithm,
    });
    const document = isSuccess(response.status)
      ? parseObject(decodeBody(await response.arrayBuffer()), context.tolerated)
      : undefined;
    const {
      issuer: named,
      token_endpoint: endpoint,
      token_endpoint_auth_methods_supported: methods,
    } = readMembers(document ?? {}, context.tolerated);
    if (named === undefined) continue;
    if (!isSameIssuer(issuer, named, context.tolerated))
      throw new ClientError(
        'issuer_mismatch',
        `The metadata of the identity provider names another issuer: ${describeDifference(issuer, String(named))}.`,
      );
    const known = Array.isArray(methods)
      ? { token_endpoint_auth_methods_supported: methods.map(String) }
      : {};
    return { issuer: named, token_endpoint: check(endpoint), ...known };
  }
  throw new ClientError(
    'no_metadata',
    `The identity provider ${issuer} publishes no metadata. Give its token endpoint.`,
  );
}

/** The server and client that an identity assertion is for. */
export interface AssertionPurpose {
  /** Issuer of the authorization server of the MCP server. */
  audience: string;
  /** The MCP server, by its resource identifier. */
  resource: string;
  /** The client as the authorization server of the MCP server knows it. */
  clientId: string;
  scopes: readonly string[];
}

/** The expected values of an identity assertion. */
type ExpectedAssertion = Omit<AssertionPurpose, 'scopes'> & {
  /** The identity provider. */
  issuer: string;
  /** Epoch seconds. */
  now: number;
};

/** A JWT that was decoded and not verified: the client does not know the keys of the identity provider. */
type DecodedJwt = Record<'header' | 'claims', Readonly<Record<string, unknown>>>;

/** Maximum difference of the clocks of an identity provider and this machine, in seconds. */
const maxSkewSeconds = 60;

function decode(jwt: string): DecodedJwt | undefined {
  try {
    return { header: { ...decodeProtectedHeader(jwt) }, claims: decodeJwt(jwt) };
  } catch {
    return undefined;
  }
}

/** Checks that a claim has one value only, as text or as a list of one. */
function isOnly(claim: unknown, expected: string): boolean {
  return Array.isArray(claim) ? claim.length === 1 && claim[0] === expected : claim === expected;
}

/**
 * The checks of an identity assertion, in order: each returns the end of the sentence "The identity provider
 * gave …".
 */
const assertionChecks: readonly ((jwt: DecodedJwt, expected: ExpectedAssertion) => string | false)[] = [
  ({ header: { typ } }) =>
    typ !== 'oauth-id-jag+jwt' && `a JWT of the type ${quote(typ)} in place of oauth-id-jag+jwt`,
  ({ claims: { iss } }, { issuer }) =>
    iss !== issuer && `an assertion of the issuer ${quote(iss)} in place of ${quote(issuer)}`,
  ({ claims: { aud } }, { audience }) =>
    !isOnly(aud, audience) && `an assertion for ${quote(aud)} in place of ${quote(audience)} alone (aud)`,
  ({ claims }, { resource }) =>
    !isOnly(claims.resource, resource) &&
    `an assertion for the resource ${quote(claims.resource)} in place of ${quote(resource)}`,
  ({ claims: { client_id: named } }, { clientId }) =>
    named !== undefined &&
    named !== clientId &&
    `an assertion for the client ${quote(named)} in place of ${quote(clientId)}`,
  ({ claims: { exp } }, { now }) =>
    !(typeof exp === 'number' && exp + maxSkewSeconds > now) && 'an assertion that has expired or has no exp',
];

/**
 * Checks an assertion before it is sent: a token of another kind or for another server could be misused by
 * the receiver.
 * @throws ClientError `token_refused`
 * @see draft-ietf-oauth-identity-assertion-authz-grant section 4.3 (FA-16, T-216)
 */
function requireAssertion(token: string, expected: ExpectedAssertion): void {
  const jwt = decode(token);
  const fault = jwt
    ? assertionChecks.map((check) => check(jwt, expected)).find((found) => found !== false)
    : 'a token that is no JWT in place of an assertion';
  if (fault)
    throw new ClientError('token_refused', `The identity provider gave ${fault}. It was not sent on.`);
}

/**
 * Exchanges a token of the user's login at the identity provider for an assertion (ID-JAG), which one
 * authorization server accepts for one MCP server.
 * @param context fetch, clock and limits
 * @param provider the identity provider
 * @param subject the token of the login
 * @param purpose the server and client of the assertion
 * @returns the assertion: a JWT with checked type, issuer, audience, resource, client and expiry; its
 *   signature is not verified
 * @throws ClientError `token_refused` and others of {@link grantRefused}, and those of {@link
 *   findIdentityProvider}
 * @see RFC 8693 section 2; draft-ietf-oauth-identity-assertion-authz-grant section 4.3 (A13-05)
 */
export async function requestIdentityAssertion(
  context: ClientContext,
  provider: IdentityProvider,
  subject: SubjectToken,
  { audience, resource, clientId, scopes }: AssertionPurpose,
): Promise<string> {
  const authorizationServer = await findIdentityProvider(context, provider);
  const { issuer } = authorizationServer;
  const answer = await requestTokens(context, {
    authorizationServer,
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
  const { issued_token_type: issued, token_type: use, access_token: assertion } = answer.tokens;
  if (issued !== `${tokenTypes}id-jag`)
    throw new ClientError(
      'token_refused',
      `The identity provider gave a token of another type, ${quote(issued)}, than the assertion it was asked for (id-jag).`,
    );
  if (use !== 'n_a')
    throw new ClientError(
      'token_refused',
      `The identity provider gave a token of the type ${quote(use)}, to be used at servers, in place of an assertion (N_A). It was not sent on.`,
    );
  requireAssertion(assertion, { issuer, audience, resource, clientId, now: context.now() });
  return assertion;
}

/** Options of {@link loginEnterpriseManaged}. */
export interface EnterpriseManagedOptions extends GrantLoginOptions {
  /** The client at the authorization server of the MCP server. */
  client: ClientIdentity;
  identityProvider: IdentityProvider;
  /**
   * Returns a token of the user's login at the identity provider; called for each login, because the token
   * expires.
   */
  subjectToken: () => SubjectToken | Promise<SubjectToken>;
}

/**
 * Logs a user of an organization in to an MCP server, through the organization's identity provider. The
 * provider issues an assertion for this server (ID-JAG), and the authorization server exchanges it for a
 * token. The user sees no page of that server. A token of the identity provider is sent on only if it is an
 * assertion for this server and client.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the client at both servers, and the user's login
 * @throws as {@link loginWithGrant}
 * @see MCP extension "Enterprise-Managed Authorization"; RFC 8693; RFC 7523 section 2.1 (A13-04, A13-05,
 *   A13-07)
 */
export function loginEnterpriseManaged(
  context: ClientContext,
  url: string,
  options: EnterpriseManagedOptions,
): Promise<GrantLogin> {
  const { client, identityProvider, subjectToken } = options;
  return loginWithGrant(context, url, options, async ({ authorizationServer, resource }, scopes) => {
    const { clientId } = client;
    const purpose = { audience: authorizationServer.issuer, resource, clientId, scopes };
    const subject = await subjectToken();
    const assertion = await requestIdentityAssertion(context, identityProvider, subject, purpose);
    return { client, grantType: grantTypes.jwtBearer, parameters: { assertion } };
  });
}

/** Creates an authorizer that runs {@link loginEnterpriseManaged}. */
export function enterpriseManagedAuthorizer(
  context: ClientContext,
  options: EnterpriseManagedOptions,
): Authorizer {
  return grantAuthorizer(options, (url, chosen) => loginEnterpriseManaged(context, url, chosen));
}
