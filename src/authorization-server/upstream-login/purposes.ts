import type { Context } from 'koa';
import type { Upstream, UpstreamIdentity, UpstreamTokens } from '../../upstream/upstream.ts';
import type { UpstreamFaultName } from '../views/upstream-fault.ts';

/** What a person allowed an app on a page of ours, before they were sent to an upstream (A11-01). */
export interface Approved {
  /** Scopes that were left ticked. */
  scopes: readonly string[];
  /** For how long, in seconds. */
  expiresIn: number;
  /** Who allowed it, where somebody was logged in: it counts for nobody else. */
  accountId?: string;
  /** Whether what the app was given before ends with it. */
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
  /** Whether the upstream was asked for a new proof of who somebody is. */
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

/** What somebody is sent to an upstream for. */
export type UpstreamPurpose = AuthorizationPurpose | AccountLoginPurpose | LinkPurpose;

/** Somebody who has come back from an upstream, and what it gave us for them. */
export interface Arrival {
  upstream: Upstream;
  identity: UpstreamIdentity;
  tokens: UpstreamTokens;
  /** The login there, where it has a name (OpenID Connect Back-Channel Logout 1.0). */
  sid?: string;
}

/** Why nothing came of it: said to the person in general words, and kept in the audit log by its name (T-085). */
export type Failure = UpstreamFaultName | 'denied';

/** What a purpose does when somebody comes back. Each runs with a write set of the request. */
export interface PurposeSteps<P extends UpstreamPurpose> {
  /** Whether what it was begun for still waits for it, in this browser. */
  isOpen(ctx: Context, purpose: P): Promise<boolean>;
  /** Takes somebody in. May run again where another request was quicker. @throws NotAdmitted */
  finish(ctx: Context, purpose: P, arrival: Arrival): Promise<void>;
  /** Says that nothing came of it. */
  fail(ctx: Context, purpose: P, upstream: Upstream, failure: Failure): Promise<void>;
}

/** The steps of every purpose. */
export type StepsByPurpose = {
  readonly [P in UpstreamPurpose['purpose']]: PurposeSteps<Extract<UpstreamPurpose, { purpose: P }>>;
};

/** Why somebody may not come in who has logged in at an upstream; the reason is for the audit log alone. */
export class NotAdmitted extends Error {
  override name = 'NotAdmitted';
  readonly reason: NotAdmittedReason;
  constructor(reason: NotAdmittedReason) {
    super(`not admitted: ${reason}`);
    this.reason = reason;
  }
}

/** Which rule it is that somebody does not fit. */
export type NotAdmittedReason =
  | 'domain_not_allowed'
  | 'claims_not_allowed'
  | 'accounts_not_created'
  | 'email_taken'
  | 'account_disabled'
  | 'linked_to_another'
  | 'no_scope_for_roles';
