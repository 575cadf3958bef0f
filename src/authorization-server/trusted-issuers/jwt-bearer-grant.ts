import { compactVerify, createLocalJWKSet } from 'jose';
import { errors } from 'oidc-provider';
import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';
import { type ClientKeys, ClientKeysRefused } from '../client-keys/client-keys.ts';
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
import { type JwtBearerOptions, jwtBearerGrant, type TrustedIssuer } from './trusted-issuer.ts';
import { issueToWorkload } from './workload-grant.ts';

/**
 * Returns true for an identity assertion; the type decides, so that no assertion passes as another kind (RFC 8725
 * section 3.11).
 */
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

/** Maximum number of keys that are tried for one assertion: a set without names costs no more than this. */
const maxTries = 5;

/**
 * Verifies that an issuer signed an assertion: with a key of its own list, whatever the header says, and by the
 * algorithm that both name (RFC 8725 sections 3.1 and 3.2).
 * @param keys key sets at URLs, fetched under guard
 * @throws errors.InvalidGrant if it did not; IssuerKeysMissing if its keys are unavailable now
 */
async function requireSignature(
  keys: ClientKeys,
  { issuer, jwks, jwksUri }: TrustedIssuer,
  jwt: string,
  { header }: Assertion,
): Promise<void> {
  const set =
    jwks ??
    (await keys.find(String(jwksUri), { keyId: header.kid, address: undefined }).catch((refusal) => {
      if (refusal instanceof ClientKeysRefused) throw new IssuerKeysMissing(issuer, refusal);
      throw refusal;
    }));
  const fitting = set.keys.filter(({ kid }) => header.kid === undefined || kid === header.kid);
  for (const key of fitting.slice(0, maxTries)) {
    const find = createLocalJWKSet({ keys: [key as { kty: string }] });
    const isSigned = await compactVerify(jwt, find, { algorithms: [...privateKeyAlgorithms] }).then(
      () => true,
      () => false,
    );
    if (isSigned) return;
  }
  throw assertionRefused('is not signed with a key of its issuer');
}
