import type { Upstreams } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import { answerLogin } from '../authentication/answer-login.ts';
import type { Authentication } from '../authentication/authentication.ts';
import type { KnownDevices } from '../authentication/known-device.ts';
import type { Passkeys } from '../authentication/passkeys.ts';
import { showPage } from '../interactions/page.ts';
import type { BeginUpstream } from '../upstream-login/begin-upstream.ts';
import { renderCode, renderLogin } from '../views/login.ts';
import { passkeyScriptSource } from '../views/passkey-form.ts';
import { type AccountRequest, redirectToPage } from './account-request.ts';
import type { LoggedIn, OwnSessions } from './own-session.ts';
import { redirectToUpstream, upstreamMessage } from './upstreams-page.ts';

/** Options of the login of the account pages. */
export interface AccountLoginOptions {
  upstreams: Upstreams;
  beginUpstream: BeginUpstream;
  authentication: Authentication;
  passkeys: Passkeys;
  devices: KnownDevices;
  sessions: OwnSessions;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/** A request of a browser in which nobody need be logged in. */
export interface LoginRequest extends AccountRequest {
  /** Names the browser. */
  visitor: string;
  /** The user who is logged in and must authenticate again. */
  who: LoggedIn | undefined;
}

/** Pages a login may lead to; any other leads to the overview, so that none leads away (T-112). */
const destinations =
  /^(?:password|passkeys|codes|upstreams(?:\/[a-z0-9-]{1,32}\/(?:link(?:\/[0-9a-f]{16})?|unlink))?|credentials(?:\/[a-z0-9-]{1,32}(?:\/[0-9a-f]{16})?)?)$/;

function destination({ ctx }: AccountRequest): string {
  const { next } = ctx.query;
  return typeof next === 'string' && destinations.test(next) ? next : '';
}

/** The address of a login page that leads on to the page of a path, or the one above it, afterwards. */
export function loginPage(path: string): string {
  const [above = ''] = path.split('/');
  const next = [path, above].find((one) => destinations.test(one));
  return `login${loginQuery(next ?? '')}`;
}

/**
 * Builds the query of a login page.
 * @param next path of the page it leads on to; empty for the overview
 * @param comesBack state of a user who returns from an upstream: `other=1` has it ask for another account, since the
 *   current one is not admitted here; `denied=` names the upstream at which the user denied it
 */
export function loginQuery(next: string, comesBack?: 'other=1' | `denied=${string}`): string {
  const query = [...(next === '' ? [] : [`next=${next}`]), ...(comesBack ? [comesBack] : [])].join('&');
  return query && `?${query}`;
}

/** Returns true if the user returns from an upstream where their account is not admitted. */
const isOtherWanted = ({ ctx }: AccountRequest): boolean => ctx.query.other === '1';

function bindingOf({ visitor }: LoginRequest): string {
  return `account ${visitor}`;
}

/** Shows the login page of the account pages. @param problem why the last attempt failed, here or at an upstream */
export async function showAccountLogin(
  request: LoginRequest,
  { passkeys, upstreams }: AccountLoginOptions,
  problem = upstreamMessage(upstreams, request.texts.account.login.denied, request.ctx.query.denied),
): Promise<void> {
  const { ctx, texts, url, csrf, form, who } = request;
  const next = destination(request);
  const query = loginQuery(next);
  const upstreamQuery = loginQuery(next, isOtherWanted(request) ? 'other=1' : undefined);
  const options = await passkeys.loginOptions(bindingOf(request));
  const offered = upstreams.all.filter(({ settings }) => settings.login);
  const email = form.get('email') ?? who?.account.email;
  const page = renderLogin(texts, {
    action: `${url}/login${query}`,
    csrf,
    resourceName: texts.account.title,
    introduction: who ? texts.account.login.again : texts.account.login.toAccount,
    ...(email ? { email } : undefined),
    ...(problem ? { problem } : undefined),
    ...(offered.length > 0
      ? { upstreams: { action: `${url}/upstream${upstreamQuery}`, csrf, choices: offered } }
      : undefined),
    ...(options ? { passkey: { action: `${url}/passkey${query}`, csrf, options } } : undefined),
  });
  showPage(ctx, page, options && passkeyScriptSource);
}

/**
 * Redirects a user to an upstream to log in here. A user who is logged in must authenticate there again, and so must a
 * user whose account there was rejected.
 */
export async function submitUpstreamLogin(
  request: LoginRequest,
  options: AccountLoginOptions,
): Promise<void> {
  const { form, who } = request;
  const upstream = options.upstreams.find(form.get('upstream') ?? '');
  if (!upstream?.settings.login) return showAccountLogin(request, options);
  const isFresh = who !== undefined;
  const purpose = { purpose: 'account-login', next: destination(request), isFresh } as const;
  const wishes = {
    ...(isFresh && { maxAgeSeconds: 0 }),
    ...((isFresh || isOtherWanted(request)) && { prompt: 'login' as const }),
  };
  const problem = await redirectToUpstream(request, options, upstream, purpose, wishes);
  if (problem !== undefined) await showAccountLogin(request, options, problem);
}

/** Runs a posted step of a login, and redirects to the page that required the login. */
export async function submitAccountLogin(
  request: LoginRequest,
  options: AccountLoginOptions,
  step: keyof Authentication,
): Promise<void> {
  const { ctx, texts, url, csrf, form } = request;
  const { authentication, audit, devices, sessions } = options;
  const next = destination(request);
  await answerLogin(ctx, await authentication[step](ctx, form, bindingOf(request)), {
    audit,
    devices,
    async accept(account, amr) {
      const provedAt = options.now();
      redirectToPage({ ctx, url: await sessions.start(ctx, { accountId: account.id, amr, provedAt }) }, next);
    },
    showLogin: (problem) => showAccountLogin(request, options, problem),
    showCode(pending, problem) {
      const page = renderCode(texts, {
        action: `${url}/code${next === '' ? '' : `?next=${next}`}`,
        csrf,
        pending,
        about: texts.account.title,
        ...(problem === undefined ? undefined : { problem }),
      });
      showPage(ctx, page);
    },
  });
}
