import { parseScope } from '../../oauth/scope.ts';
import { type GrantRequest, giveToken, resourceServer } from '../engine/grant-parts.ts';
import { type Assertion, keyOfAssertion } from './assertion.ts';
import { chooseResource } from './chosen-resource.ts';
import { fitsClaims } from './claim-pattern.ts';
import { assertionRefused } from './grant-refused.ts';
import { grantScopes } from './granted-scopes.ts';
import type { JwtBearerOptions } from './jwt-bearer-options.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

/**
 * Gives a workload a token of the client that it is by the operator's rules: it acts for itself, as with client
 * credentials, and its token ends no later than the identity that its platform gave it (A13-10).
 * @param assertion one whose signature and claims are good
 * @throws errors.InvalidGrant, errors.InvalidTarget, errors.InvalidScope
 */
export async function issueToWorkload(
  { resources, audit, now }: JwtBearerOptions,
  request: GrantRequest,
  trusted: TrustedIssuer,
  assertion: Assertion,
): Promise<void> {
  const { claims } = assertion;
  const { ctx, provider, client, parameter } = request;
  const rule = trusted.workloads.find(
    ({ clientId, claims: patterns }) => clientId === client.clientId && fitsClaims(patterns, claims),
  );
  if (!rule) throw assertionRefused('is of no workload that the operator lets be this client');

  const resource = chooseResource(resources, parameter('resource'), undefined, rule.resources);
  const scopes = grantScopes({
    resource,
    asked: parameter('scope'),
    limits: [rule.scopes, client.scope === undefined ? undefined : parseScope(client.scope)],
    fallback: rule.scopes,
    excess: 'dropped',
  });
  const server = await resourceServer(request, resource);
  const token = new provider.ClientCredentials({
    client,
    resourceServer: server,
    expiresIn: Math.max(1, Math.min(server.accessTokenTTL ?? 1, Number(claims.exp) - now())),
  });
  await giveToken(request, token, scopes, {}, keyOfAssertion(assertion));
  audit('workload.accepted', ctx, { issuer: trusted.issuer, subject: claims.sub });
}
