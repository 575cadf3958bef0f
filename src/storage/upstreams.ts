/**
 * Stored logins of accounts at third-party authorization servers ("upstreams"): the identity there, its tokens, and the
 * bond, which says which grants and browser logins depend on which login there. The writers seal profiles and tokens
 * for `UpstreamProfile:<link id>` and `UpstreamTokens:<link id>`.
 */

/** The link of one account to one upstream. */
export interface UpstreamLinkRow {
  id: string;
  accountId: string;
  /** Name of the upstream in the settings. */
  upstream: string;
  issuer: string;
  /** `sub` at the upstream. */
  subject: string;
  /** Sealed. */
  profile: Uint8Array;
  /** Sealed; absent if none are held. */
  tokens?: Uint8Array;
  /** Number of token sets so far; a conditional write names the one that it read. */
  generation: number;
  /** Expiry of the access token, epoch seconds; absent if unknown, or if there is no token. */
  expiresAt?: number;
  /** Time at which the upstream last confirmed the tokens, epoch seconds. */
  provedAt: number;
  /** Time of the first failed contact since, epoch seconds; absent if the last contact succeeded. */
  unreachableSince?: number;
  /** True if the user linked it for tools: it stays and holds its tokens without a grant. */
  kept: boolean;
  /** Scopes that tools requested in addition to those of the settings, separated by spaces. */
  wantedScopes: string;
  /** Epoch seconds. */
  linkedAt: number;
}

/** Stores a login at the upstream: the identity there and its tokens. */
export interface PutUpstreamLink {
  type: 'putUpstreamLink';
  id: string;
  accountId: string;
  upstream: string;
  issuer: string;
  subject: string;
  profile: Uint8Array;
  tokens: Uint8Array;
  expiresAt?: number;
  provedAt: number;
  /** Keeps the link without grants from now on; never reset. */
  kept?: boolean;
  /** Expected generation: rejected if it differs. Absent: rejected unless the link is new. */
  ifGeneration?: number;
  /** Epoch seconds. */
  at: number;
}

/**
 * Changes to links within a commit. Rejected as `changed` if the link was written meanwhile, and as `present` if the
 * subject belongs to another account or the account has another subject there (T-089).
 */
export type UpstreamChange =
  | PutUpstreamLink
  /**
   * Adds an upstream session that browser logins or grants depend on; orphan if the link is gone. `sid`: its id at the
   * upstream.
   */
  | { type: 'addUpstreamSession'; id: string; linkId: string; sid?: string; at: number }
  /**
   * Binds a grant (by its stored name) to an upstream session; orphan if either is gone or belongs to another account.
   */
  | { type: 'bindGrant'; id: string; upstreamSessionId: string };

/** The upstream session and link that a grant depends on. */
export interface UpstreamBond {
  sessionId: string;
  linkId: string;
}

/** Numbers of ended grants and logins. */
export interface UpstreamEnded {
  grants: number;
  /** Browser logins. */
  logins: number;
}

/** Tokens to be revoked at their upstream, sealed for their link. */
export interface UpstreamRevocation {
  id: number;
  upstream: string;
  linkId: string;
  accountId: string;
  tokens: Uint8Array;
  /** Failed attempts so far. */
  attempts: number;
}

/** Retention of an upstream session that nothing depends on, in seconds. */
export const unusedUpstreamSessionSeconds = 86_400;

/**
 * Retention of new tokens before a grant depends on the link, in seconds: as long as the pages of an authorization
 * request may take.
 */
export const unboundTokensSeconds = 600;

/** Period during which a token revocation at an upstream is attempted, in seconds. */
export const revocationRetrySeconds = 86_400;

/**
 * Links, upstream sessions and bonds. If an upstream session is removed, the grants, tokens and browser logins that
 * depend on it are removed in the same commit. If the last grant of a link is removed by anyone, {@link releaseUnheld}
 * finds the link.
 */
export interface UpstreamStore {
  find(linkId: string): Promise<UpstreamLinkRow | undefined>;
  findOfAccount(accountId: string, upstream: string): Promise<UpstreamLinkRow | undefined>;
  /** Returns the links of an account, sorted by upstream. */
  listOfAccount(accountId: string): Promise<UpstreamLinkRow[]>;
  /** Returns links to an upstream, sorted by id, after an id. */
  list(upstream: string, page: { after?: string; limit: number }): Promise<UpstreamLinkRow[]>;
  /** Returns the bond of a grant, by its stored name; undefined if the grant is gone or has none. */
  bondOf(grantId: string): Promise<UpstreamBond | undefined>;
  /**
   * Returns the bond of an artifact's grant, by kind and hashed id; undefined if either is gone or the grant has none.
   */
  bondOfArtifact(kind: string, id: string): Promise<UpstreamBond | undefined>;
  /** Returns the link of an upstream session; undefined if the session has ended. */
  linkOfSession(sessionId: string): Promise<UpstreamLinkRow | undefined>;

  /**
   * Claims the refresh or check of the tokens of a generation, across all processes. The claim ends with {@link
   * putTokens}, {@link noteProved} or {@link noteUnreachable}, or after the lease.
   * @returns true if the caller holds the claim
   */
  claimRefresh(
    linkId: string,
    generation: number,
    nowSeconds: number,
    leaseSeconds: number,
  ): Promise<boolean>;
  /**
   * Stores refreshed tokens as the next generation and marks the upstream as reachable. If the link holds no tokens any
   * more, the new ones are queued for revocation.
   * @param upstream name of the upstream
   * @returns false, and nothing changed, if the generation differs
   */
  putTokens(
    linkId: string,
    ifGeneration: number,
    fresh: {
      upstream: string;
      accountId: string;
      tokens: Uint8Array;
      expiresAt?: number;
      profile?: Uint8Array;
      provedAt: number;
    },
  ): Promise<boolean>;
  /** Records that the upstream confirmed the tokens; no effect if the generation differs. */
  noteProved(linkId: string, generation: number, at: number): Promise<void>;
  /** Records that the upstream was unreachable; an earlier time stays. No effect if the generation differs. */
  noteUnreachable(linkId: string, generation: number, at: number): Promise<void>;
  /** Adds scopes to those that tools requested; no effect if the link is gone. */
  wantScopes(linkId: string, scopes: readonly string[]): Promise<void>;

  /**
   * Ends the link's upstream sessions with everything that depends on them, and removes its tokens. The link stays only
   * if it is `kept`.
   * @param options.revoke true to revoke the tokens at the upstream; false if the upstream reported their end
   * @returns undefined, and nothing changed, if the link is gone or the generation differs
   */
  endLink(
    linkId: string,
    options: { ifGeneration?: number; revoke: boolean },
  ): Promise<UpstreamEnded | undefined>;
  /**
   * Ends a link like {@link endLink}, `kept` or not, and removes the account's identity there.
   * @param waysIn issuers through which the account can log in, if it has no password
   * @returns undefined if there is no link
   * @throws LastLoginMethod
   */
  unlink(linkId: string, waysIn?: readonly string[]): Promise<UpstreamEnded | undefined>;
  /**
   * Ends upstream sessions that the upstream reports as ended, with everything that depends on them (OpenID Connect
   * Back-Channel Logout 1.0 section 2.6). With a `sid` that session, and if a subject is given too, its sessions of
   * unknown `sid`; without a `sid`, all sessions of the subject.
   * @returns the ids of their links
   */
  endSessions(which: {
    upstream: string;
    issuer: string;
    sid?: string;
    subject?: string;
  }): Promise<UpstreamEnded & { links: string[] }>;
  /** Ends all links to an upstream, or that of one account, and queues their tokens for revocation. */
  endAll(upstream: string, accountId?: string): Promise<UpstreamEnded & { links: number }>;
  /**
   * Checks the links that lost a grant or session: if a link has no grant and is not `kept`, its tokens are queued for
   * revocation; if it has no session either, the link is removed. Writes nothing if there is none.
   * @returns the number of token sets queued
   */
  releaseUnheld(nowSeconds: number): Promise<number>;

  /** Returns the due revocations, the oldest first, and leases them to the caller. Writes nothing if there is none. */
  dueRevocations(nowSeconds: number, limit: number, leaseSeconds: number): Promise<UpstreamRevocation[]>;
  /** Removes tokens that were revoked. */
  revocationDone(id: number): Promise<void>;
  /**
   * Schedules the next attempt of a failed revocation.
   * @returns true if `nextAt` is later than `revocationRetrySeconds` after the first attempt: the tokens are dropped
   */
  revocationFailed(id: number, nextAt: number): Promise<boolean>;
}
