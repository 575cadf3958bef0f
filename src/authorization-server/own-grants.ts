import type { Storage } from '../storage/storage.ts';
import type { IssuedAccessTokens } from './access-tokens.ts';
import type { AuditLog } from './audit.ts';
import type { ClientKeys } from './client-keys/client-keys.ts';
import type { OwnGrant } from './engine/grant-parts.ts';
import type { ResourceRegistry } from './resources.ts';
import { type ExchangeRule, tokenExchangeGrant } from './token-exchange/exchange-rule.ts';
import { createTokenExchangeGrant } from './token-exchange/token-exchange-grant.ts';
import { createJwtBearerGrant } from './trusted-issuers/jwt-bearer-grant.ts';
import {
  identityAssertionProfile,
  jwtBearerGrant,
  type TrustedIssuer,
} from './trusted-issuers/trusted-issuer.ts';

/** Grants that the operator allows beside users who log in and clients that act for themselves. */
export interface OwnGrantRules {
  trustedIssuers: readonly TrustedIssuer[];
  tokenExchange: readonly ExchangeRule[];
}

/** Parts of the grants. */
export interface OwnGrantParts {
  issuer: string;
  storage: Pick<Storage, 'accounts' | 'artifacts' | 'identities'>;
  /** Key sets of issuers. */
  keys: ClientKeys;
  resources: ResourceRegistry;
  accessTokens: IssuedAccessTokens;
  accessTokenSeconds: number;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the grants beyond those of oidc-provider that the operator has configured. The others are unknown to clients
 * and not advertised (A13-11).
 */
export function createOwnGrants(
  { trustedIssuers, tokenExchange: rules }: OwnGrantRules,
  { storage, ...parts }: OwnGrantParts,
): OwnGrant[] {
  return [
    ...(trustedIssuers.length > 0 ? [createJwtBearerGrant({ trustedIssuers, ...storage, ...parts })] : []),
    ...(rules.length > 0 ? [createTokenExchangeGrant({ rules, ...parts })] : []),
  ];
}

/** The names of the grants of ours that the operator has not set up, or no longer. */
export function ownGrantsOff({ trustedIssuers, tokenExchange }: OwnGrantRules): string[] {
  return [
    ...(trustedIssuers.length > 0 ? [] : [jwtBearerGrant]),
    ...(tokenExchange.length > 0 ? [] : [tokenExchangeGrant]),
  ];
}

/** Metadata members of these grants, beside their names (draft-ietf-oauth-identity-assertion-authz-grant section 7). */
export function describeOwnGrants({ trustedIssuers }: OwnGrantRules): Record<string, unknown> {
  const forPeople = trustedIssuers.some(({ identityAssertions }) => identityAssertions);
  return forPeople ? { authorization_grant_profiles_supported: [identityAssertionProfile] } : {};
}
