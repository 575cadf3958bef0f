import type { ClientContext } from '../context.ts';
import type { ClientIdentity } from '../exchange.ts';
import type { Authorizer } from '../session/authorizer.ts';
import { grantTypes } from '../tokens/token-request.ts';
import { type GrantLogin, type GrantLoginOptions, grantAuthorizer, loginWithGrant } from './grant-login.ts';
import { type IdentityProvider, requestIdentityAssertion, type SubjectToken } from './identity-provider.ts';

/** What the caller of an enterprise-managed authorization chooses. */
export interface EnterpriseManagedOptions extends GrantLoginOptions {
  /** The client as the authorization server of the MCP server knows it. */
  client: ClientIdentity;
  identityProvider: IdentityProvider;
  /** Brings what the user's login at the identity provider gave; asked each time, for it ends. */
  subjectToken: () => SubjectToken | Promise<SubjectToken>;
}

/**
 * Logs a user of an organization in to an MCP server, by the organization's identity provider: it makes an assertion
 * for this server (ID-JAG), which the authorization server takes for a token. The user sees no page of that server. What
 * the identity provider sends is handed on only if it is an assertion for this server and client.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the client at both servers, and the user's login
 * @throws as {@link loginWithGrant}
 * @see MCP extension "Enterprise-Managed Authorization"; RFC 8693; RFC 7523 section 2.1 (A13-04, A13-05, A13-07)
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

/** @returns an authorizer that runs {@link loginEnterpriseManaged} */
export function enterpriseManagedAuthorizer(
  context: ClientContext,
  options: EnterpriseManagedOptions,
): Authorizer {
  return grantAuthorizer(options, (url, chosen) => loginEnterpriseManaged(context, url, chosen));
}
