import type { AccountStore, IdentityStore } from '../../storage/accounts.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import type { ClientKeys } from '../client-keys/client-keys.ts';
import type { ClientKeySet } from '../client-keys/key-set.ts';
import type { ResourceRegistry } from '../resources.ts';

/** Whose accounts the people of an identity provider are. */
export interface AccountRules {
  /** E-mail addresses of accounts, by the subject the issuer knows them as. What stands here is the truth. */
  subjects: Readonly<Record<string, string>>;
  /** Domains for which the issuer's word about an e-mail address is taken: its holder is the account of that address. */
  emailDomains: readonly string[];
  /** Whether somebody with an address in these domains who has no account gets one. */
  create: boolean;
}

/** What people may do here by the word of an identity provider (ID-JAG). */
export interface IdentityRules {
  accounts: AccountRules;
  /** The most it can give; all there is where absent. */
  scopes?: readonly string[] | undefined;
  /** Resources it can open; all there are where absent. */
  resources?: readonly string[] | undefined;
}

/** Which workloads of a platform are a client of the operator. */
export interface WorkloadRule {
  clientId: string;
  /** What its claims have to be, by name; `*` stands for anything. */
  claims: Readonly<Record<string, string>>;
  /** The most it may have. */
  scopes: readonly string[];
  /** Resources it may have tokens for; all there are where absent. */
  resources?: readonly string[] | undefined;
}

/** An issuer whose assertions the operator trusts (A13-08, A13-10). */
export interface TrustedIssuer {
  /** Its issuer identifier, as it stands in `iss`. */
  issuer: string;
  /** Its public keys; these, or the URL where they are. */
  jwks?: ClientKeySet | undefined;
  jwksUri?: string | undefined;
  /** Undefined where it may not speak for people. */
  identityAssertions?: IdentityRules | undefined;
  /** None where it may not speak for workloads. */
  workloads: readonly WorkloadRule[];
}

/** The grant by which an assertion becomes a token (RFC 7523 section 2.1). */
export const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** What the metadata calls the profile of it for identity assertions (draft-ietf-oauth-identity-assertion-authz-grant). */
export const identityAssertionProfile = 'urn:ietf:params:oauth:grant-profile:id-jag';

/** What accounts are found with. */
export interface AccountSources {
  accounts: Pick<AccountStore, 'find' | 'findByEmail'>;
  identities: IdentityStore;
  /** Epoch seconds. */
  now: () => number;
}

/** What the grant for assertions works with. */
export interface JwtBearerOptions extends AccountSources {
  /** Our issuer. */
  issuer: string;
  trustedIssuers: readonly TrustedIssuer[];
  /** Key sets of issuers. */
  keys: ClientKeys;
  artifacts: Pick<ArtifactStore, 'find'>;
  resources: ResourceRegistry;
  /** Life of an access token where its resource says nothing, in seconds. */
  accessTokenSeconds: number;
  audit: AuditLog;
}
