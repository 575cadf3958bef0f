import { isUnknownPassword, type PasswordHasher, PasswordQueueFull } from '../../crypto/password.ts';
import type { AccountStore } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import type { KnownDevices } from '../authentication/known-device.ts';
import { showPage } from '../interactions/page.ts';
import { type Login, ownerOf } from '../login.ts';
import { renderPasswordChange } from '../views/account/password.ts';
import { goToPage, type PersonalRequest } from './account-request.ts';
import { readNewPassword } from './new-password.ts';
import type { OwnSessions } from './own-session.ts';

/** What the change of a password works with. */
export interface PasswordPageOptions {
  accounts: AccountStore;
  hasher: PasswordHasher;
  login: Login;
  devices: KnownDevices;
  sessions: OwnSessions;
  audit: AuditLog;
}

/** Shows the form; `problem` says why the last one was not carried out. */
export function showPasswordChange(request: PersonalRequest, problem?: string): void {
  const { ctx, texts, url, csrf, who } = request;
  const notice = ctx.query.done === undefined ? undefined : texts.account.password.done;
  const { email, passwordHash } = who.account;
  const hasPassword = !isUnknownPassword(passwordHash);
  showPage(ctx, renderPasswordChange(texts, { url, csrf, email, hasPassword, problem, notice }));
}

/**
 * Carries out a change of the password: by who knows the one there is, counted like a login. Every session and grant
 * of the account ends, and this browser gets a new session (T-123, T-119). It is no younger a login than the one before:
 * a password alone does not open the pages that ask for a login of late, where the account has one-time codes.
 */
export async function submitPasswordChange(
  request: PersonalRequest,
  options: PasswordPageOptions,
): Promise<void> {
  const { ctx, texts, form, who } = request;
  const { accounts, hasher, login, devices, sessions, audit } = options;
  const { id, email } = who.account;
  const refuse = (status: number, problem: string): void => {
    ctx.status = status;
    showPasswordChange(request, problem);
  };

  const typed = readNewPassword(texts, form);
  if ('problem' in typed) return refuse(400, typed.problem);
  const address = String(ctx.state.clientAddress);
  const checked = await login(email, form.get('current') ?? '', address, devices.find(ctx, email));
  if (checked.outcome === 'refused') {
    audit('login.failed', ctx, { accountId: id, reason: 'password_change' });
    return refuse(403, texts.account.password.wrong);
  }
  if (checked.outcome !== 'accepted') {
    audit('login.throttled', ctx, { accountId: id, reason: checked.outcome });
    ctx.set('Retry-After', String(checked.retryAfterSeconds));
    return checked.outcome === 'busy'
      ? refuse(503, texts.login.busy)
      : refuse(429, texts.login.throttled(checked.retryAfterSeconds));
  }

  const passwordHash = await hasher.hash(typed.password, [ownerOf(email)]).catch((error) => {
    if (error instanceof PasswordQueueFull) return undefined;
    throw error;
  });
  if (passwordHash === undefined) {
    audit('login.throttled', ctx, { accountId: id, reason: 'busy' });
    return refuse(503, texts.login.busy);
  }
  if (!(await accounts.setPassword(id, passwordHash, checked.account.passwordHash)))
    return refuse(403, texts.account.password.wrong);
  audit('account.password_changed', ctx, { accountId: id });
  const { amr = ['pwd'], loginTs, provedAt, acr } = who.session;
  const url = await sessions.start(ctx, { accountId: id, amr, loginTs, provedAt, acr });
  goToPage({ ctx, url }, 'password?done=1');
}
