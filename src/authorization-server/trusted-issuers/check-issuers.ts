import { checkKeySet, checkKeySetUrl } from '../client-keys/key-set.ts';
import type { ProtectedResource } from '../resources.ts';
import type { ExchangeRule } from '../token-exchange/exchange-rule.ts';
import type { TrustedIssuer } from './trusted-issuer.ts';

type KnownResources = readonly Pick<ProtectedResource, 'resource' | 'scopes'>[];

/** Things that a rule names and that must exist. */
interface Named {
  scopes?: readonly string[] | undefined;
  resources?: readonly string[] | undefined;
}

function findUnknown({ scopes = [], resources = [] }: Named, known: KnownResources): string[] {
  const knownScopes = known.flatMap((entry) => Object.keys(entry.scopes));
  const knownResources = known.map(({ resource }) => resource);
  return [
    ...scopes
      .filter((scope) => !knownScopes.includes(scope))
      .map((scope) => `scopes: there is no ${scope} here; there are ${[...new Set(knownScopes)].join(', ')}`),
    ...resources
      .filter((resource) => !knownResources.includes(resource))
      .map((resource) => `resources: there is no ${resource} here; there are ${knownResources.join(', ')}`),
  ];
}

function checkKeys({ jwks, jwksUri }: TrustedIssuer): string[] {
  const inKeys = jwks && checkKeySet(jwks);
  const inUrl = jwksUri === undefined ? undefined : checkKeySetUrl(jwksUri);
  return [...(inKeys ? [`jwks: ${inKeys}`] : []), ...(inUrl ? [`jwksUri: ${inUrl}`] : [])];
}

/**
 * Looks whether what the operator set about issuers fits the installation.
 * @returns every problem, each beginning with the setting it is about
 */
export function checkTrustedIssuers(issuers: readonly TrustedIssuer[], known: KnownResources): string[] {
  return issuers.flatMap((issuer, at) => {
    const { identityAssertions, workloads } = issuer;
    return [
      ...checkKeys(issuer),
      ...(identityAssertions ? findUnknown(identityAssertions, known) : []).map(
        (problem) => `identityAssertions.${problem}`,
      ),
      ...workloads.flatMap((rule, index) =>
        findUnknown(rule, known).map((problem) => `workloads.${index}.${problem}`),
      ),
    ].map((problem) => `trustedIssuers.${at}.${problem}`);
  });
}

/** Looks whether what the operator set about token exchange fits the installation. @returns every problem */
export function checkExchangeRules(rules: readonly ExchangeRule[], known: KnownResources): string[] {
  return rules.flatMap(({ from, to, scopes }, at) =>
    findUnknown({ scopes, resources: [from, ...to] }, known).map(
      (problem) => `tokenExchange.${at}.${problem}`,
    ),
  );
}
