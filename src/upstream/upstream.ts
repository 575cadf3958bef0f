import type { UpstreamSettings } from './upstream-settings.ts';

/** What an upstream gave us for one person. It is ours alone: no client and no tool sees it. */
export interface UpstreamTokens {
  accessToken: string;
  /** Absent where the upstream gives none. */
  refreshToken?: string | undefined;
  /** When the access token ends, epoch seconds; absent where the upstream does not say. */
  expiresAt?: number | undefined;
  /** What it was given for. */
  scopes: readonly string[];
}

/** Who somebody is at an upstream. */
export interface UpstreamIdentity {
  /** Its issuer identifier; one that has none is named by the origin of its authorization endpoint. */
  issuer: string;
  subject: string;
  /** Only an address that the upstream says it verified. */
  email?: string | undefined;
  name?: string | undefined;
  /** What it says, for admission and mapping; without tokens, nonces and times, and `email` only where it was verified. */
  claims: Readonly<Record<string, unknown>>;
}

/** A login at an upstream that has begun. It is JSON and a secret: whoever keeps it seals it. */
export interface PendingAuthorization {
  state: string;
  /** Absent where the upstream gives no ID token. */
  nonce?: string | undefined;
  codeVerifier: string;
  scopes: readonly string[];
  /** The login there has to be no older than this, epoch seconds; absent where any login will do. */
  loggedInSince?: number | undefined;
}

/** What an upstream is to show whatever it remembers (OpenID Connect Core 1.0 section 3.1.2.1). */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account';

/** What an authorization request to an upstream may say. */
export interface AuthorizationWishes {
  /** In addition to those of the settings. */
  scopes?: readonly string[] | undefined;
  loginHint?: string | undefined;
  /** Languages, best first, as BCP 47 has them, separated by spaces. */
  uiLocales?: string | undefined;
  prompt?: Prompt | undefined;
  /** How old a login there may be, in seconds; 0 for a new one. The ID token then has to say when it was. */
  maxAgeSeconds?: number | undefined;
  /** Whether a refresh token is held already: an upstream that gives one only with its consent page is not made to show it. */
  holdsRefreshToken?: boolean | undefined;
}

/** What a login at an upstream gave. */
export interface CompletedAuthorization {
  identity: UpstreamIdentity;
  tokens: UpstreamTokens;
  /** Its own name of the login, for back-channel logout. */
  sid?: string | undefined;
}

/** A logout token that was checked (OpenID Connect Back-Channel Logout 1.0 section 2.4). */
export interface LogoutToken {
  issuer: string;
  /** This, or the login, or both. */
  subject?: string | undefined;
  sid?: string | undefined;
  /** To be refused a second time until {@link LogoutToken.expiresAt}. */
  jti: string;
  /** Until when it would be taken, whatever the clocks: whole epoch seconds. */
  expiresAt: number;
}

/**
 * A third-party authorization server that people log in at, and whose tokens we hold for them. Each method that asks it
 * something throws {@link UpstreamFault}, with the kind that says what the fault means for those who wait.
 */
export interface Upstream {
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  readonly settings: UpstreamSettings;
  /** Where it sends browsers back to: `<publicUrl>/upstream/<name>/callback`, of this upstream alone (RFC 9700 section 4.4.2). */
  readonly callbackUrl: string;
  /** The issuer of its identities, where it has one for all of them; that of its metadata, else its own place. */
  readonly issuer: string | undefined;
  /** Whether {@link Upstream.revoke} ends other tokens of the person as well. */
  readonly revocationEndsAll: boolean;
  /** What is asked for at each login. */
  readonly scopes: readonly string[];
  /**
   * Begins a login.
   * @returns the URL to send the browser to, and what `complete` needs when it comes back
   */
  begin(wishes?: AuthorizationWishes): Promise<{ url: string; pending: PendingAuthorization }>;
  /**
   * Takes what the browser brought back: checks `state`, `iss` and error, redeems the code, verifies the ID token or asks
   * who it is.
   * @param callback the parameters of the callback
   */
  complete(callback: URLSearchParams, pending: PendingAuthorization): Promise<CompletedAuthorization>;
  /**
   * Renews tokens; the refresh token stays where the answer has none.
   * @throws UpstreamFault `ended` where they are dead for good; else `unavailable`, which says nothing about them
   */
  refresh(tokens: UpstreamTokens): Promise<UpstreamTokens>;
  /**
   * Looks whether the access token is still honoured, for an upstream where there is nothing to renew.
   * @returns whether it is known to be; false where the upstream has nothing that could be asked
   * @throws UpstreamFault `ended` where it is not honoured; else `unavailable`
   */
  check(tokens: UpstreamTokens): Promise<boolean>;
  /** Gives tokens back (RFC 7009): the refresh token first, else the access token. Nothing where the upstream has no way. */
  revoke(tokens: UpstreamTokens): Promise<void>;
  /** Verifies a logout token. That its `jti` is new is for the caller to see. */
  readLogoutToken(jwt: string): Promise<LogoutToken>;
  /**
   * Reads its metadata anew, under the rules of a login.
   * @returns the document as it was published; what was set, under its names, where the upstream has none (RFC 8414 section 2)
   */
  readMetadata(): Promise<Readonly<Record<string, unknown>>>;
  /** Reads its key set as it is published; undefined where it has none. */
  readKeys(): Promise<unknown>;
  /** How this server proves itself there, as RFC 7591 section 2 calls it, by the metadata that was read last. */
  clientAuthentication(): Promise<string>;
}

/** The upstreams of an installation. */
export interface Upstreams {
  readonly all: readonly Upstream[];
  /** @returns undefined where there is none of this name */
  find(name: string): Upstream | undefined;
}
