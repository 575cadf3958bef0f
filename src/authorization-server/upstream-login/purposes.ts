import type { Context } from 'koa';
import type { Upstream, UpstreamIdentity, UpstreamTokens } from '../../upstream/upstream.ts';
import type { UpstreamFaultName } from '../views/upstream-fault.ts';

/** The user's permission for an app, given on a page before the redirect to an upstream (A11-01). */
export interface Approved {
  /** Scopes that were left ticked. */
  scopes: readonly string[];
  /** For how long, in seconds. */
  expiresIn: number;
  /** The account that gave it, if a user was logged in: it counts for no other account. */
  accountId?: string;
  /** True if what the app was given before ends with it. */
  endEarlier: boolean;
}

/** A login for an authorization request. */
export interface AuthorizationPurpose {
  purpose: 'authorization';
  /** The interaction it answers. */
  uid: string;
  clientId: string;
  approved: Approved;
}

/** A login on the account pages. */
export interface AccountLoginPurpose {
  purpose: 'account-login';
  /** The account page that follows, by its path below `/account`. */
  next: string;
  /** True if the upstream was asked for a new proof of who somebody is. */
  isFresh: boolean;
}

/** An identity more for an account that is logged in. */
export interface LinkPurpose {
  purpose: 'link';
  accountId: string;
  /** The login session that began it. */
  sessionUid: string;
  /** The account page that follows, by its path below `/account`. */
  next: string;
}

/** Purpose of a redirect to an upstream. */
export type UpstreamPurpose = AuthorizationPurpose | AccountLoginPurpose | LinkPurpose;

/** Somebody who has come back from an upstream, and what it gave us for them. */
export interface Arrival {
  upstream: Upstream;
  identity: UpstreamIdentity;
  tokens: UpstreamTokens;
  /** The login there, if it has a name (OpenID Connect Back-Channel Logout 1.0). */
  sid?: string;
}

/**
 * Reason of a failed upstream login: shown to the user in general words, and recorded in the audit log by name (T-085).
 */
export type Failure = UpstreamFaultName | 'denied';

/** Handling of a purpose when the user returns. Each step runs with a write set of the request. */
export interface PurposeSteps<P extends UpstreamPurpose> {
  /** Returns true if what it was begun for still waits for it, in this browser. */
  isOpen(ctx: Context, purpose: P): Promise<boolean>;
  /**
   * Completes the login. May run again if another request was faster.
   * @throws NotAdmitted
   */
  finish(ctx: Context, purpose: P, arrival: Arrival): Promise<void>;
  /** Shows the failure. */
  fail(ctx: Context, purpose: P, upstream: Upstream, failure: Failure): Promise<void>;
}

/** The steps of every purpose. */
export type StepsByPurpose = {
  readonly [P in UpstreamPurpose['purpose']]: PurposeSteps<Extract<UpstreamPurpose, { purpose: P }>>;
};

/** Reason why a user who logged in at an upstream is not admitted; for the audit log only. */
export class NotAdmitted extends Error {
  override name = 'NotAdmitted';
  readonly reason: NotAdmittedReason;
  constructor(reason: NotAdmittedReason) {
    super(`not admitted: ${reason}`);
    this.reason = reason;
  }
}

/** The rule that a user does not meet. */
export type NotAdmittedReason =
  | 'domain_not_allowed'
  | 'claims_not_allowed'
  | 'accounts_not_created'
  | 'email_taken'
  | 'account_disabled'
  | 'linked_to_another'
  | 'no_scope_for_roles';
