/**
 * What is kept of people's logins at third-party authorization servers ("upstreams"): who they are there, the tokens held
 * for them, and the bond: which of our grants and browser logins hang on which login there. Profiles and tokens are sealed
 * by whoever writes them, for `UpstreamProfile:<link id>` and `UpstreamTokens:<link id>`.
 */

/** One account at one upstream. */
export interface UpstreamLinkRow {
  id: string;
  accountId: string;
  /** Name of the upstream in the settings. */
  upstream: string;
  issuer: string;
  /** Their `sub` there. */
  subject: string;
  /** Sealed. */
  profile: Uint8Array;
  /** Sealed; absent where none are held. */
  tokens?: Uint8Array;
  /** Counts the sets of tokens there were; a guarded write names the one it read. */
  generation: number;
  /** When the access token expires, epoch seconds; absent where that is not known, or none is held. */
  expiresAt?: number;
  /** When the upstream last said yes, epoch seconds. */
  provedAt: number;
  /** Since when it has not been reached, epoch seconds; absent where it was, the last time it was asked. */
  unreachableSince?: number;
  /** Whether the person linked it for tools: it stays, and holds its tokens, without a grant that hangs on it. */
  kept: boolean;
  /** Scopes that tools asked for beside those of the settings, separated by spaces. */
  wantedScopes: string;
  /** Epoch seconds. */
  linkedAt: number;
}

/** A login at the upstream: who somebody is there, and the tokens it gave. */
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
  /** Has it stay without grants from now on; what stays goes on doing so. */
  kept?: boolean;
  /** The generation that was read: refused where it is another by now. Absent: refused unless the link is new. */
  ifGeneration?: number;
  /** Epoch seconds. */
  at: number;
}

/**
 * What a request does to links, in its commit. A link is refused as `changed` where it was written meanwhile, and as
 * `present` where the subject is another account, or the account another subject there (T-089).
 */
export type UpstreamChange =
  | PutUpstreamLink
  /** A login there, for a browser login or grants to hang on; orphan where the link is gone. `sid`: its name there. */
  | { type: 'addUpstreamSession'; id: string; linkId: string; sid?: string; at: number }
  /** Hangs a grant (by its stored name) on a login there; orphan where either is gone, or of another account. */
  | { type: 'bindGrant'; id: string; upstreamSessionId: string };

/** What a grant hangs on. */
export interface UpstreamBond {
  sessionId: string;
  linkId: string;
}

/** What ended. */
export interface UpstreamEnded {
  grants: number;
  /** Logins in browsers. */
  logins: number;
}

/** A set of tokens to be revoked at its upstream, sealed for its link as it was there. */
export interface UpstreamRevocation {
  id: number;
  upstream: string;
  linkId: string;
  accountId: string;
  tokens: Uint8Array;
  /** Failed tries so far. */
  attempts: number;
}

/** How long a login at an upstream that nothing hangs on is remembered, in seconds. */
export const unusedUpstreamSessionSeconds = 86_400;

/**
 * How long new tokens are held without a grant that hangs on the link, in seconds: as long as the pages of an
 * authorization request may take.
 */
export const unboundTokensSeconds = 600;

/** For how long the revocation of tokens at an upstream is tried, in seconds. */
export const revocationTriedSeconds = 86_400;

/**
 * Links, logins there, and the bond. Where a login there goes, the grants, tokens and browser logins that hang on it go in
 * the same commit; where the last grant of a link goes, whoever removes it, {@link releaseUnheld} finds the link.
 */
export interface UpstreamStore {
  find(linkId: string): Promise<UpstreamLinkRow | undefined>;
  findOfAccount(accountId: string, upstream: string): Promise<UpstreamLinkRow | undefined>;
  /** Gives the links of an account, by the names of their upstreams. */
  listOfAccount(accountId: string): Promise<UpstreamLinkRow[]>;
  /** Gives links to an upstream in the order of their ids, those after an id. */
  list(upstream: string, page: { after?: string; limit: number }): Promise<UpstreamLinkRow[]>;
  /** Gives what a grant (by its stored name) hangs on; undefined where it is gone or hangs on nothing. */
  bondOf(grantId: string): Promise<UpstreamBond | undefined>;
  /** Gives what the grant of an artifact, by its kind and hashed id, hangs on; undefined where one is gone or hangs on nothing. */
  bondOfArtifact(kind: string, id: string): Promise<UpstreamBond | undefined>;
  /** Gives the link that a login there is of; undefined where it has ended. */
  linkOfSession(sessionId: string): Promise<UpstreamLinkRow | undefined>;

  /**
   * Says whether the caller is the one, of all processes, that refreshes or checks the tokens of this generation now. The
   * claim ends with {@link putTokens}, {@link noteProved} and {@link noteUnreachable}, or by itself.
   */
  claimRefresh(
    linkId: string,
    generation: number,
    nowSeconds: number,
    leaseSeconds: number,
  ): Promise<boolean>;
  /**
   * Puts refreshed tokens in the place of a generation; they are the next one, the upstream is reached. False where the
   * generation is another by now, and nothing changed. Where no tokens are held any more, the new ones are to be revoked.
   * @param upstream name of the upstream they are of
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
  /** Notes that the upstream stands by these tokens; no effect where the generation is another by now. */
  noteProved(linkId: string, generation: number, at: number): Promise<void>;
  /** Notes that the upstream was not reached: the first time stays. No effect where the generation is another by now. */
  noteUnreachable(linkId: string, generation: number, at: number): Promise<void>;
  /** Adds scopes to those that tools ask for; no effect where the link is gone. */
  wantScopes(linkId: string, scopes: readonly string[]): Promise<void>;

  /**
   * Ends the logins there with all that hangs on them, and lets go of the tokens. The link stays only where it is kept.
   * Undefined where it is gone, or the generation is another by now: nothing changed then.
   * @param options.revoke whether the tokens are to be revoked at the upstream; not where it said that they have ended
   */
  endLink(
    linkId: string,
    options: { ifGeneration?: number; revoke: boolean },
  ): Promise<UpstreamEnded | undefined>;
  /**
   * Ends the same for a link, kept or not, and forgets who the account is there. Undefined where there is no link.
   * @param waysIn issuers the account can log in through, where it has no password
   * @throws LastWayIn
   */
  unlink(linkId: string, waysIn?: readonly string[]): Promise<UpstreamEnded | undefined>;
  /**
   * Ends logins there that the upstream says have ended, with what hangs on them: with a `sid` that one, and where a
   * subject is given too, its logins of unknown `sid`; without, all of the subject (OpenID Connect Back-Channel Logout 1.0
   * section 2.6).
   * @returns the links they were of, by id
   */
  endSessions(which: {
    upstream: string;
    issuer: string;
    sid?: string;
    subject?: string;
  }): Promise<UpstreamEnded & { links: string[] }>;
  /** Ends all links to an upstream, or that of one account, and has their tokens revoked. Gives how many, and what ended. */
  endAll(upstream: string, accountId?: string): Promise<UpstreamEnded & { links: number }>;
  /**
   * Looks at the links that something let go of: where no grant hangs on one and it is not kept, its tokens are to be
   * revoked; where no login is left either, the link goes. Writes nothing where there is nothing to look at.
   * @returns the number of sets of tokens that are to be revoked
   */
  releaseUnheld(nowSeconds: number): Promise<number>;

  /**
   * Gives what is to be revoked at a time, what waits longest first, and leaves it to the caller alone for so long. Writes
   * nothing where there is nothing.
   */
  dueRevocations(nowSeconds: number, limit: number, leaseSeconds: number): Promise<UpstreamRevocation[]>;
  /** Forgets tokens that were revoked. */
  revocationDone(id: number): Promise<void>;
  /**
   * Has a failed try done again at a time. Gives whether that is later than `revocationTriedSeconds` after the first:
   * the tokens are forgotten then, and nobody tries again.
   */
  revocationFailed(id: number, nextAt: number): Promise<boolean>;
}
