import type { Context } from 'koa';
import { errors } from 'oidc-provider';
import type { AccountStore, IdentityStore } from '../../storage/accounts.ts';
import type { UpstreamStore } from '../../storage/upstreams.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import { loginQuery } from '../account/login-page.ts';
import type { LoggedIn, OwnSessions } from '../account/own-session.ts';
import type { AuditLog } from '../audit.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { redirectSeeOther, showPage } from '../interactions/page.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderUpstreamFault } from '../views/upstream-fault.ts';
import { findAccountOfLogin, type TrustsEmailDomain } from './account-of-login.ts';
import { checkAdmission } from './admission.ts';
import { acrOfUpstreamSession } from './login-acr.ts';
import {
  type Arrival,
  type Failure,
  type LinkPurpose,
  NotAdmitted,
  type StepsByPurpose,
} from './purposes.ts';

/** Options of the logins for the account pages. */
export interface AccountStepsOptions {
  accounts: AccountStore;
  identities: IdentityStore;
  isBelieved: TrustsEmailDomain;
  links: Pick<UpstreamStore, 'findOfAccount'>;
  vault: Pick<Vault, 'changesOfLogin'>;
  sessions: OwnSessions;
  audit: AuditLog;
  /** URL of the account pages, without a slash at its end. */
  accountUrl: string;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the steps for a user who returns from an upstream to the account pages: a login, or a new identity of the
 * account that began the link (T-089).
 */
export function createAccountSteps(options: AccountStepsOptions): Omit<StepsByPurpose, 'authorization'> {
  const { identities, links, vault, sessions, audit, accountUrl, now } = options;
  const pageOf = (next: string, url = accountUrl): string => (next === '' ? url : `${url}/${next}`);

  async function fail(ctx: Context, page: string, { label }: Upstream, failure: Failure): Promise<void> {
    if (failure === 'denied') return redirectSeeOther(ctx, page);
    ctx.status = failure === 'unavailable' ? 503 : 403;
    const html = renderUpstreamFault(textsFor(ctx), {
      fault: failure,
      label,
      ways: [{ name: 'backToAccount', href: page }],
      requestId: String(ctx.state.requestId),
    });
    showPage(ctx, html);
  }

  function checkComer({ upstream, identity }: Arrival): void {
    const refusal = checkAdmission(upstream.settings.accounts.allow ?? {}, identity);
    if (refusal) throw new NotAdmitted(refusal);
  }

  /** Keeps what the upstream gave, in the commit of the request. Gives the session there. */
  async function keep(accountId: string, arrival: Arrival, kept: boolean): Promise<string> {
    const { upstream, identity, tokens, sid } = arrival;
    const present = await links.findOfAccount(accountId, upstream.name);
    const login = vault.changesOfLogin({ upstream, accountId, identity, tokens, sid, present });
    for (const change of login.changes)
      currentWriteSet()?.add(
        change.type === 'putUpstreamLink' && kept && !present ? { ...change, kept } : change,
      );
    return login.sessionId;
  }

  /** Returns who began the linking, if they are still logged in here. */
  async function findBeginner(
    ctx: Context,
    { accountId, sessionUid }: LinkPurpose,
  ): Promise<LoggedIn | undefined> {
    const who = await sessions.findBesidePages(ctx);
    return who?.account.id === accountId && who.session.uid === sessionUid ? who : undefined;
  }

  /**
   * Links the identity at the upstream with an account.
   * @throws NotAdmitted if the identity belongs to another account
   */
  async function link(ctx: Context, accountId: string, { identity, upstream }: Arrival): Promise<void> {
    const { issuer, subject } = identity;
    const holder = await identities.findAccount({ issuer, subject });
    if (holder === accountId) return;
    const taken = await identities.findSubject(issuer, accountId);
    // Another request has linked it between these reads.
    if (taken === subject) return;
    if (holder !== undefined || taken !== undefined) throw new NotAdmitted('linked_to_another');
    currentWriteSet()?.add({ type: 'linkIdentity', issuer, subject, accountId, at: now() });
    audit('account.linked', ctx, { accountId, upstream: upstream.name, issuer, subject });
  }

  return {
    'account-login': {
      isOpen: async () => true,
      async finish(ctx, { next, isFresh }, arrival) {
        checkComer(arrival);
        const { upstream, identity } = arrival;
        const { account, by, changes } = await findAccountOfLogin(options, upstream, identity);
        const { id: accountId, passwordHash } = account;
        const writes = currentWriteSet();
        for (const change of changes) writes?.add(change);
        writes?.add({ type: 'requirePassword', accountId, passwordHash });
        const sessionId = await keep(accountId, arrival, false);
        const { issuer, subject } = identity;
        const about = { accountId, upstream: upstream.name };
        if (by !== 'known') audit(`account.${by}`, ctx, { ...about, issuer, subject });
        audit('login.succeeded', ctx, { ...about, amr: 'fed' });
        const url = await sessions.start(ctx, {
          accountId,
          amr: ['fed'],
          provedAt: isFresh ? now() : undefined,
          acr: acrOfUpstreamSession(sessionId),
        });
        redirectSeeOther(ctx, pageOf(next, url));
      },
      fail(ctx, { next }, upstream, failure) {
        const pages = {
          notAdmitted: `login${loginQuery(next, 'other=1')}`,
          denied: `login${loginQuery(next, `denied=${upstream.name}`)}`,
          unavailable: next,
          refused: next,
        };
        return fail(ctx, pageOf(pages[failure]), upstream, failure);
      },
    },
    link: {
      isOpen: async (ctx, purpose) => (await findBeginner(ctx, purpose)) !== undefined,
      async finish(ctx, purpose, arrival) {
        const who = await findBeginner(ctx, purpose);
        if (!who) throw new errors.SessionNotFound('the login has ended meanwhile');
        checkComer(arrival);
        await link(ctx, purpose.accountId, arrival);
        await keep(purpose.accountId, arrival, true);
        redirectSeeOther(ctx, pageOf(purpose.next, who.url));
      },
      async fail(ctx, purpose, upstream, failure) {
        const [page = ''] = purpose.next.split('?');
        const who = await findBeginner(ctx, purpose);
        return fail(
          ctx,
          pageOf(failure === 'denied' ? `${page}?denied=${upstream.name}` : page, who?.url),
          upstream,
          failure,
        );
      },
    },
  };
}
