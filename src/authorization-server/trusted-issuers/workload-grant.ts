import { comparableClaim } from '../../oauth/issuer.ts';
import { parseScope } from '../../oauth/scope.ts';
import { type GrantRequest, issueToken, resourceServer } from '../engine/grant-parts.ts';
import { type Assertion, keyOfAssertion } from './assertion.ts';
import { assertionRefused, chooseResource, grantScopes } from './granted-scopes.ts';
import type { JwtBearerOptions, TrustedIssuer } from './trusted-issuer.ts';

/**
 * Issues a token to a workload as the client that the operator's rules map it to. The client acts for itself, as with
 * client credentials, and the token expires no later than the platform's identity token (A13-10).
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
  await issueToken(request, token, scopes, {}, keyOfAssertion(assertion));
  audit('workload.accepted', ctx, { issuer: trusted.issuer, subject: claims.sub });
}

/**
 * Returns true if a claim fits what the operator wrote: the same text, in which each `*` stands for any characters.
 * Whole claims are compared, with respect to case, in time that grows with their length and no faster.
 * @param claim text, a whole number that JSON cannot have rounded, or a Boolean; anything else fits nothing
 */
export function fitsPattern(pattern: string, claim: unknown): boolean {
  const text = comparableClaim(claim);
  if (text === undefined) return false;
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}

/** Returns true if every claim the operator named is there and fits. */
export function fitsClaims(
  patterns: Readonly<Record<string, string>>,
  claims: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(patterns).every(
    ([name, pattern]) => Object.hasOwn(claims, name) && fitsPattern(pattern, claims[name]),
  );
}
