import { errors } from 'oidc-provider';
import type { GrantRequest, OwnGrant } from '../engine/grant-parts.ts';
import {
  type Assertion,
  findFault,
  identityAssertionType,
  identityChecks,
  readAssertion,
  workloadChecks,
} from './assertion.ts';
import { assertionRefused, IssuerKeysMissing } from './granted-scopes.ts';
import { issueToPerson } from './identity-grant.ts';
import { requireSignature } from './issuer-keys.ts';
import { type JwtBearerOptions, jwtBearerGrant } from './trusted-issuer.ts';
import { issueToWorkload } from './workload-grant.ts';

/** What kind of assertion it is; the type decides, so that none is taken for another (RFC 8725 section 3.11). */
function isIdentityAssertion({ header }: Assertion): boolean {
  return header.typ === identityAssertionType;
}

/**
 * Creates the grant by which somebody whom the operator trusts lets a client in (RFC 7523 section 2.1): an identity provider
 * for a person (ID-JAG), or a platform for its workload. In order: is it a JWT, is its issuer trusted with this kind, do its
 * claims hold, is it signed by that issuer; only then is anything looked up in the database.
 */
export function createJwtBearerGrant(options: JwtBearerOptions): OwnGrant {
  const { issuer, trustedIssuers, keys, now } = options;

  async function judge({ ctx, client, parameter }: GrantRequest) {
    const jwt = parameter('assertion');
    if (jwt === undefined) throw new errors.InvalidRequest('the parameter assertion is missing');
    const assertion = readAssertion(jwt);
    if (!assertion) throw assertionRefused('is no signed JWT of a sensible size');
    const trusted = trustedIssuers.find((known) => known.issuer === assertion.claims.iss);
    const forPerson = isIdentityAssertion(assertion);
    const isTrusted = forPerson ? trusted?.identityAssertions : trusted && trusted.workloads.length > 0;
    if (!trusted || !isTrusted)
      throw assertionRefused(
        `is of an issuer (iss) that is not trusted here with ${forPerson ? 'people' : 'workloads'}`,
      );
    const context = { issuer, clientId: client.clientId, nowSeconds: now() };
    const fault = findFault(forPerson ? identityChecks : workloadChecks, assertion, context);
    if (fault) throw assertionRefused(fault);
    await requireSignature(keys, trusted, jwt, assertion).catch((error) => {
      if (error instanceof IssuerKeysMissing) ctx.set('Retry-After', String(error.retryAfterSeconds));
      throw error;
    });
    return { assertion, trusted };
  }

  return {
    name: jwtBearerGrant,
    parameters: ['assertion', 'scope', 'resource'],
    async handle(request) {
      const { assertion, trusted } = await judge(request);
      const { identityAssertions } = trusted;
      if (isIdentityAssertion(assertion) && identityAssertions)
        await issueToPerson(options, request, { ...trusted, identityAssertions }, assertion);
      else await issueToWorkload(options, request, trusted, assertion);
    },
  };
}
