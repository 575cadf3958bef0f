import type { AccountStore, IdentityStore } from '../../storage/accounts.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import type { ClientKeys } from '../client-keys/client-keys.ts';
import type { ClientKeySet } from '../client-keys/key-set.ts';
import type { ResourceRegistry } from '../resources.ts';

/** Maps identities of an external identity provider to local accounts. */
export interface AccountRules {
  /** E-mail addresses of accounts, by the subject the issuer knows them as. What stands here is the truth. */
  subjects: Readonly<Record<string, string>>;
  /** Domains for which the issuer's word about an e-mail address is taken: its holder is the account of that address. */
  emailDomains: readonly string[];
  /** True if somebody with an address in these domains who has no account gets one. */
  create: boolean;
}

/** Permissions of users by the word of an identity provider (ID-JAG). */
export interface IdentityRules {
  accounts: AccountRules;
  /** The most scopes that it can grant; all if absent. */
  scopes?: readonly string[] | undefined;
  /** Resources that it can open; all if absent. */
  resources?: readonly string[] | undefined;
}

/** Maps workloads of a platform to a client of the operator. */
export interface WorkloadRule {
  clientId: string;
  /** Required claims by name; `*` stands for any characters. */
  claims: Readonly<Record<string, string>>;
  /** The most it may have. */
  scopes: readonly string[];
  /** Resources that it may have tokens for; all if absent. */
  resources?: readonly string[] | undefined;
}

/** An issuer whose assertions the operator trusts (A13-08, A13-10). */
export interface TrustedIssuer {
  /** Its issuer identifier, as it stands in `iss`. */
  issuer: string;
  /** Its public keys; these, or the URL of its keys. */
  jwks?: ClientKeySet | undefined;
  jwksUri?: string | undefined;
  /** Undefined if it may not speak for people. */
  identityAssertions?: IdentityRules | undefined;
  /** None if it may not speak for workloads. */
  workloads: readonly WorkloadRule[];
}

/** The grant by which an assertion becomes a token (RFC 7523 section 2.1). */
export const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Name of its profile for identity assertions in the metadata document
 * (draft-ietf-oauth-identity-assertion-authz-grant).
 */
export const identityAssertionProfile = 'urn:ietf:params:oauth:grant-profile:id-jag';

/** Sources for finding an account. */
export interface AccountSources {
  accounts: Pick<AccountStore, 'find' | 'findByEmail'>;
  identities: IdentityStore;
  /** Epoch seconds. */
  now: () => number;
}

/** Options of the grant for assertions. */
export interface JwtBearerOptions extends AccountSources {
  /** Our issuer. */
  issuer: string;
  trustedIssuers: readonly TrustedIssuer[];
  /** Key sets of issuers. */
  keys: ClientKeys;
  artifacts: Pick<ArtifactStore, 'find'>;
  resources: ResourceRegistry;
  /** Lifetime of an access token if its resource has none of its own, in seconds. */
  accessTokenSeconds: number;
  audit: AuditLog;
}
