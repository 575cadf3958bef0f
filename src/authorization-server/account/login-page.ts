import type { AuditLog } from '../audit.ts';
import { answerLogin } from '../authentication/answer-login.ts';
import type { Authentication } from '../authentication/authentication.ts';
import type { KnownDevices } from '../authentication/known-device.ts';
import type { Passkeys } from '../authentication/passkeys.ts';
import { showPage } from '../interactions/page.ts';
import { renderCode } from '../views/code.ts';
import { renderLogin } from '../views/login.ts';
import { passkeyScriptSource } from '../views/passkey-form.ts';
import { type AccountRequest, goToPage } from './account-request.ts';
import type { LoggedIn, OwnSessions } from './own-session.ts';

/** What the login of the account pages works with. */
export interface AccountLoginOptions {
  authentication: Authentication;
  passkeys: Passkeys;
  devices: KnownDevices;
  sessions: OwnSessions;
  audit: AuditLog;
}

/** A request of a browser in which nobody need be logged in. */
export interface LoginRequest extends AccountRequest {
  /** Names the browser. */
  visitor: string;
  /** Who is logged in already, where somebody has to show once more that it is them. */
  who: LoggedIn | undefined;
}

/** Pages a login may lead to; any other leads to the overview, so that none leads away (T-112). */
const destinations = new Set(['password', 'passkeys', 'codes']);

function destination({ ctx }: AccountRequest): string {
  const { next } = ctx.query;
  return typeof next === 'string' && destinations.has(next) ? next : '';
}

/** The address of a login page that leads to another page afterwards. */
export function loginPage(next: string): string {
  return destinations.has(next) ? `login?next=${next}` : 'login';
}

function bindingOf({ visitor }: LoginRequest): string {
  return `account ${visitor}`;
}

/** Shows the login page of the account pages. */
export async function showAccountLogin(
  request: LoginRequest,
  { passkeys }: AccountLoginOptions,
  problem?: string,
): Promise<void> {
  const { ctx, texts, url, csrf, form, who } = request;
  const next = destination(request);
  const query = next === '' ? '' : `?next=${next}`;
  const options = await passkeys.loginOptions(bindingOf(request));
  const email = form.get('email') ?? who?.account.email;
  const page = renderLogin(texts, {
    action: `${url}/login${query}`,
    csrf,
    resourceName: texts.account.title,
    introduction: who ? texts.account.login.again : texts.account.login.toAccount,
    ...(email ? { email } : undefined),
    ...(problem ? { problem } : undefined),
    ...(options ? { passkey: { action: `${url}/passkey${query}`, csrf, options } } : undefined),
  });
  showPage(ctx, page, undefined, options && passkeyScriptSource);
}

/** Carries out a posted step of a login, and goes on to the page that asked for it. */
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
      await sessions.start(ctx, account.id, amr);
      goToPage(request, next);
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
