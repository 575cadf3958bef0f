import { hashClientSecret } from '../../../src/authorization-server/operator-clients/client-secret.ts';
import type { GatehouseOptions } from '../../../src/index.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post } from '../../support/oauth.ts';
import { createTestIssuer, type TestIssuer } from '../../support/trusted-issuer.ts';
import { generousLimits } from '../token/subject.ts';

export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The secret of every client of these tests that has one. */
export const secret = '0123456789abcdef0123456789abcdef';

/** How a client with a secret authenticates. */
export const basic = (id: string, value = secret): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${value}`).toString('base64')}`,
});

type TrustedIssuers = NonNullable<GatehouseOptions['trustedIssuers']>;
type PreRegistered = NonNullable<NonNullable<GatehouseOptions['clients']>['preRegistered']>;

/** A client of the operator that authenticates with {@link secret}. */
export function clientWithSecret(clientId: string, more: Partial<PreRegistered[number]> = {}) {
  return {
    clientId,
    name: `The client ${clientId}`,
    authMethod: 'client_secret_basic' as const,
    secretHash: hashClientSecret(secret),
    grantTypes: [jwtBearer as typeof jwtBearer],
    ...more,
  };
}

/** A gatehouse that trusts an identity provider. */
export interface EnterpriseSetUp {
  gatehouse: RunningGatehouse;
  idp: TestIssuer;
  /** An assertion of the identity provider for the client `desk` and the MCP endpoint. */
  assertion: TestIssuer['assertPerson'] extends (about: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
  /** Presents an assertion as `desk`. */
  present(assertion: string, fields?: Record<string, string>): Promise<Response>;
}

/**
 * Starts one, with the client `desk`, and Ada known by her subject.
 * @param rules what the identity provider may do, over that
 * @param options of the gatehouse
 */
export async function trustIdentityProvider(
  rules: NonNullable<TrustedIssuers[number]['identityAssertions']> = {
    accounts: { subjects: { 'ada-at-idp': ada.email } },
  },
  {
    clients = [],
    ...options
  }: Partial<GatehouseOptions> & { clients?: PreRegistered; port?: number } = {} as never,
): Promise<EnterpriseSetUp> {
  const idp = await createTestIssuer('https://idp.example.com');
  const gatehouse = await startGatehouse({
    limits: generousLimits,
    trustedIssuers: [{ issuer: idp.issuer, jwks: idp.jwks, identityAssertions: rules }],
    clients: { preRegistered: [clientWithSecret('desk'), ...clients] },
    ...options,
  });
  const about = { audience: gatehouse.url, clientId: 'desk', resource: gatehouse.mcpUrl };
  return {
    gatehouse,
    idp,
    assertion: (claims, header) => idp.assertPerson(about, claims, header),
    present: (assertion, fields = {}) =>
      post(`${gatehouse.url}/token`, { grant_type: jwtBearer, assertion, ...fields }, basic('desk')),
  };
}
