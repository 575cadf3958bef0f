import type { KeySet } from '../crypto/key-schedule.ts';
import type { Logger } from '../observability/logger.ts';
import type { Storage } from '../storage/storage.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import type { Vault } from '../upstream/vault.ts';
import type { McpConnections } from './account/connected-apps.ts';
import type { CredentialForms } from './account/credentials-page.ts';
import type { AuditTrail } from './audit.ts';
import type { LinkStanding } from './bonds/link-standing.ts';
import type { TakeLogoutToken } from './bonds/logout-endpoint.ts';
import type { DocumentLimits } from './client-documents/budgets.ts';
import type { HostPolicyOptions } from './client-documents/host-policy.ts';
import type { RepeatFromOtherAddress } from './endpoints/token-endpoint.ts';
import type { Lifetimes } from './engine/configuration.ts';
import type { Limit, Limiters, LimitName } from './limits.ts';
import type { LoginLimits } from './login.ts';
import type { OwnGrantRules } from './own-grants.ts';
import type { RegistrationPolicy } from './registration/admission.ts';
import type { ProtectedResource, ToolsOf } from './resources.ts';
import type { Tolerances } from './tolerances.ts';

/** Parts of the authorization server. */
export interface AuthorizationServerOptions {
  /** Issuer identifier: the public URL, without a trailing slash. */
  issuer: string;
  storage: Storage;
  keys: KeySet;
  resources: readonly ProtectedResource[];
  /** Names the tools that scopes open, for the consent page. */
  toolsOf: ToolsOf;
  /**
   * Returns true if the resource server of a resource is in the same process, so that calls with its tokens are seen.
   */
  isServedHere: (resource: string) => boolean;
  lifetimes: Lifetimes;
  /** Seconds during which a used refresh token gets its first response again; 0 for never. */
  refreshGraceSeconds: number;
  /** Handling of a used refresh token that is sent again from another address within that time. */
  repeatFromOtherAddress: RepeatFromOtherAddress;
  /** The quirks of clients that are let through. */
  tolerances: Tolerances;
  /** True if each DPoP proof needs a nonce of ours, however recent it is. */
  requireDpopNonce: boolean;
  /** Policy for client ID metadata documents; none are accepted if it is undefined. */
  clientDocuments?: HostPolicyOptions & {
    /** Also fetches from this very machine: for development. */
    dangerouslyFromLoopback: boolean;
    /** `if_fetchable` tries once whether any can be fetched, and leaves them out of the metadata until that is known. */
    announced: 'always' | 'if_fetchable';
  };
  /** True if a cookie alone proves a login although servers on other ports of the host receive it: over http. */
  trustsOtherPorts: boolean;
  /** True if a device without a browser may log in with a code (RFC 8628). */
  deviceLogin: boolean;
  /** True if clients of the operator may act for themselves (RFC 6749 section 4.4). */
  clientCredentials: boolean;
  /** Trusted issuers of assertions, and clients that may exchange tokens. */
  ownGrants: OwnGrantRules;
  /** State of the upstream links that grants depend on. */
  linkStanding: LinkStanding;
  /** Takes logout tokens of upstreams. */
  takeLogoutToken: TakeLogoutToken;
  /**
   * True if keys of clients are fetched from where they say (`jwks_uri`); those they bring count anyhow. Undefined for
   * no.
   */
  clientKeys?: {
    /** Also fetches from this very machine: for development. */
    dangerouslyFromLoopback: boolean;
  };
  /** Logins elsewhere that people may come from; none if this is undefined. */
  upstreams?: UpstreamParts;
  /** The MCP sessions in the same process, for the account pages. */
  mcpConnections: McpConnections;
  /** Credentials for MCP servers behind the gateway that users may enter; none if undefined. */
  credentialForms?: CredentialForms;
  registration: {
    policy: RegistrationPolicy;
    /** True if a client gets an id that is its registration, and is stored by its first consent only. */
    sealedIds: boolean;
    /** Redirect schemes that clients may have beside https, http, those with a dot, and those of known apps. */
    redirectSchemes: readonly string[];
  };
  /**
   * Limits for each address: client registrations, authorization requests, failures at the token endpoint, wrong logins
   * and fetched documents.
   */
  limits: {
    registrations: Limit;
    authorizations: Limit;
    tokenFailures: Limit;
    /** Tokens issued to a client for an account. */
    tokensPerGrant: Limit;
    /** Refreshes of a grant between two accepted calls with its tokens. */
    refreshesWithoutCall: Limit;
    /** Requests of an address to endpoints that have no tighter limit. */
    requests: Limit;
    /** Addresses and ranges behind which many people stand. */
    sharedAddresses: readonly string[];
    logins: LoginLimits;
    /** Wrong device codes of an address or a browser. */
    deviceCodes: Limit;
    /** Wrong one-time codes of an account, and reset links of an address that do not work. */
    codes: Limit;
    resets: Limit;
    documents: DocumentLimits;
  };
  limiters: Limiters;
  logger: Logger;
  auditTrail: AuditTrail;
  /** Counts an event of the audit log. */
  countEvent: (event: string) => void;
  /** Counts a request that a limit refused. */
  countLimited: (limit: LimitName) => void;
  /** Epoch seconds. */
  now: () => number;
}

/** The upstreams of an installation, and the store of their tokens. */
export interface UpstreamParts {
  upstreams: Upstreams;
  vault: Vault;
}

function nothingIsKept(): never {
  throw new TypeError('there is no upstream whose tokens could be kept');
}

/** No upstream at all: everybody logs in here. */
export const noUpstreams: UpstreamParts = {
  upstreams: { all: [], find: () => undefined },
  vault: {
    changesOfLogin: nothingIsKept,
    open: nothingIsKept,
    profileOf: nothingIsKept,
    sealTokens: nothingIsKept,
    openTokens: nothingIsKept,
  },
};
