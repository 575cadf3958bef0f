/** The tokens of one person at an upstream. They stay in Gatehouse: no client and no tool sees them. */
export interface UpstreamTokens {
  accessToken: string;
  /** Absent if the upstream issues none. */
  refreshToken?: string | undefined;
  /** Expiry of the access token, epoch seconds; absent if the upstream does not tell. */
  expiresAt?: number | undefined;
  /** The granted scopes. */
  scopes: readonly string[];
}

/** The identity of a person at an upstream. */
export interface UpstreamIdentity {
  /** Its issuer identifier; for an upstream without one, the origin of its authorization endpoint. */
  issuer: string;
  subject: string;
  /** Only an address that the upstream has verified. */
  email?: string | undefined;
  name?: string | undefined;
  /**
   * Claims for admission and mapping; without tokens, nonces and times, and `email` only if it was verified.
   */
  claims: Readonly<Record<string, unknown>>;
}

/** A login in progress at an upstream. It is JSON and a secret, to be stored sealed. */
export interface PendingAuthorization {
  state: string;
  /** Absent if the upstream issues no ID token. */
  nonce?: string | undefined;
  codeVerifier: string;
  scopes: readonly string[];
  /** Earliest time of the login there, epoch seconds; absent if any is accepted. */
  loggedInSince?: number | undefined;
}

/** The page that an upstream has to show (OpenID Connect Core 1.0 section 3.1.2.1). */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account';

/** Optional parts of an authorization request to an upstream. */
export interface AuthorizationWishes {
  /** In addition to those of the settings. */
  scopes?: readonly string[] | undefined;
  loginHint?: string | undefined;
  /** Languages as BCP 47 tags, best first, separated by spaces. */
  uiLocales?: string | undefined;
  prompt?: Prompt | undefined;
  /**
   * Maximum age of the login there, in seconds; 0 for a new one. The ID token then has to contain the login
   * time.
   */
  maxAgeSeconds?: number | undefined;
  /**
   * True if a refresh token is already stored: an upstream that issues one only with its consent page then
   * need not show it.
   */
  holdsRefreshToken?: boolean | undefined;
}

/** The result of a login at an upstream. */
export interface CompletedAuthorization {
  identity: UpstreamIdentity;
  tokens: UpstreamTokens;
  /** Its session id, for back-channel logout. */
  sid?: string | undefined;
}

/** A verified logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). */
export interface LogoutToken {
  issuer: string;
  /** The subject, the session, or both. */
  subject?: string | undefined;
  sid?: string | undefined;
  /** To be rejected a second time until {@link LogoutToken.expiresAt}. */
  jti: string;
  /** The time until which it would be accepted, with all clock differences: whole epoch seconds. */
  expiresAt: number;
}

/**
 * A third-party authorization server that people log in at, whose tokens Gatehouse stores for them. Each
 * method that sends a request throws {@link UpstreamFault}.
 */
export interface Upstream {
  readonly name: string;
  /** The name that people see. */
  readonly label: string;
  readonly settings: UpstreamSettings;
  /**
   * The redirect URI: `<publicUrl>/upstream/<name>/callback`, different for each upstream (RFC 9700 section
   * 4.4.2).
   */
  readonly callbackUrl: string;
  /** The issuer of its identities, if all have the same: that of its metadata, else its origin. */
  readonly issuer: string | undefined;
  /** True if {@link Upstream.revoke} also ends other tokens of the person. */
  readonly revocationEndsAll: boolean;
  /** Scopes requested at each login. */
  readonly scopes: readonly string[];
  /**
   * Begins a login.
   * @returns the URL to send the browser to, and what `complete` needs when it comes back
   */
  begin(wishes?: AuthorizationWishes): Promise<{ url: string; pending: PendingAuthorization }>;
  /**
   * Completes a login: checks `state`, `iss` and error, redeems the code, and verifies the ID token or
   * requests the user info.
   * @param callback the parameters of the callback
   */
  complete(callback: URLSearchParams, pending: PendingAuthorization): Promise<CompletedAuthorization>;
  /**
   * Renews tokens; the refresh token is kept if the response has none.
   * @throws UpstreamFault `ended` if they are dead; else `unavailable`, which says nothing about them
   */
  refresh(tokens: UpstreamTokens): Promise<UpstreamTokens>;
  /**
   * Checks if the access token is still accepted, for an upstream without refresh tokens.
   * @returns false if the upstream has no endpoint to check it
   * @throws UpstreamFault `ended` if it is rejected; else `unavailable`
   */
  check(tokens: UpstreamTokens): Promise<boolean>;
  /**
   * Revokes tokens (RFC 7009): the refresh token, else the access token. Does nothing if the upstream has no
   * revocation endpoint.
   */
  revoke(tokens: UpstreamTokens): Promise<void>;
  /** Verifies a logout token. The caller has to check that its `jti` is new. */
  readLogoutToken(jwt: string): Promise<LogoutToken>;
  /**
   * Requests its metadata, under the rules of a login.
   * @returns the document as published; for an upstream without one, the settings under the names of RFC 8414
   *   section 2
   */
  readMetadata(): Promise<Readonly<Record<string, unknown>>>;
  /** Requests its key set as published; undefined if it has none. */
  readKeys(): Promise<unknown>;
  /** Returns the client authentication method, as RFC 7591 section 2 names it, by the latest metadata. */
  clientAuthentication(): Promise<string>;
}

/** The upstreams of an installation. */
export interface Upstreams {
  readonly all: readonly Upstream[];
  /** Returns undefined if there is none of this name. */
  find(name: string): Upstream | undefined;
}

/** Names of presets for known products. */
export type UpstreamPresetName = 'google' | 'github' | 'entra' | 'okta' | 'keycloak' | 'gitlab' | 'slack';

/** Members of a user-info response with the parts of an identity; dots separate nested members. */
export interface UserInfoMapping {
  subject: string;
  email?: string | undefined;
  /**
   * A member that is `true` or `"true"` if the address is verified; without it no address counts as verified.
   */
  emailVerified?: string | undefined;
  name?: string | undefined;
  groups?: string | undefined;
}

/** Rules for people who log in with an upstream. */
export interface AdmissionRules {
  /** True creates an account for a person without one. */
  create: boolean;
  /**
   * Domains for which the upstream is trusted: a person with a verified address there gets the account of
   * that address.
   */
  linkByVerifiedEmail: readonly string[];
  /** Requirements, which all have to be met; absent for everybody. */
  allow?:
    | {
        /** Domains of verified e-mail addresses. */
        domains?: readonly string[] | undefined;
        /** Allowed values of claims, by name; each claim needs one of its values. */
        claims?: Readonly<Record<string, readonly string[]>> | undefined;
      }
    | undefined;
}

/** Scopes that a claim of the upstream grants. */
export interface ClaimScopes {
  claim: string;
  value: string;
  scopes: readonly string[];
}

/** The settings of an upstream. */
export interface UpstreamSettings {
  preset?: UpstreamPresetName | undefined;
  /** The name that people see. */
  label?: string | undefined;
  /** Its issuer identifier. Endpoints without a setting are discovered there. */
  issuer?: string | undefined;
  authorizationEndpoint?: string | undefined;
  tokenEndpoint?: string | undefined;
  userInfoEndpoint?: string | undefined;
  revocationEndpoint?: string | undefined;
  userInfo?: UserInfoMapping | undefined;
  clientId: string;
  /** The secret, or the environment variable that contains it. */
  clientSecret?: string | { env: string } | undefined;
  clientSecretFile?: string | undefined;
  /** A private key in PEM or as a JWK, for `private_key_jwt`. */
  clientKeyFile?: string | undefined;
  /** Scopes requested at each login; those of the preset if absent. */
  scopes?: readonly string[] | undefined;
  /** Further parameters of the authorization request. */
  authorizationParameters: Readonly<Record<string, string>>;
  /** Hosts of the API that tools may call with the upstream's tokens. */
  apiHosts: readonly string[];
  /** True allows addresses outside the public internet. */
  allowPrivateNetwork: boolean;
  /** True if the login page offers it; false for linking only. */
  login: boolean;
  /** Domains whose people are sent to it directly (`login_hint`). */
  domains: readonly string[];
  /** Resources that require this upstream for login. */
  resources: readonly string[];
  accounts: AdmissionRules;
  /** Scopes that its claims grant; all scopes if absent. */
  grantScopes?: readonly ClaimScopes[] | undefined;
  /** Claims that MCP servers learn about the caller. */
  callerClaims?: readonly string[] | undefined;
  /** Time after which a link is checked again. */
  checkSeconds: number;
  /** Time for which the last result counts while the upstream is not reachable. */
  graceSeconds: number;
  /** Time for which a login counts whose tokens have expired, and cannot be renewed or checked. */
  unverifiableSeconds: number;
}
