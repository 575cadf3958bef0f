import { ClientError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { Authorizer } from '../session/authorizer.ts';
import { grantTypes } from '../tokens/token-request.ts';
import { type GrantLogin, type GrantLoginOptions, grantAuthorizer, loginWithGrant } from './grant-login.ts';

/** What the caller of a workload identity grant chooses. */
export interface WorkloadIdentityOptions extends GrantLoginOptions {
  /** The client id under which the authorization server knows the workload. */
  clientId: string;
  /**
   * Brings the JWT that the platform gave this workload, e.g. from a file that the platform keeps fresh.
   * @param audience issuer of the authorization server, which the JWT has to name as its audience
   */
  assertion: (audience: string) => string | Promise<string>;
}

/**
 * Logs a workload in to an MCP server with the identity that its platform gave it: no secret, one try, no other grant.
 * @param context fetch, clock and limits
 * @param url URL of the MCP server
 * @param options the workload, and where the credential is kept
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
 * Makes an authorizer that runs {@link loginWithWorkloadIdentity}. A JWT that was refused is not sent again.
 * @param context fetch, clock and limits
 * @param options the workload, and where the credential is kept
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
          'The authorization server has refused this identity of the workload already. It is not sent again.',
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
