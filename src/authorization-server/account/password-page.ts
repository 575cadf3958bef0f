import {
  isUnknownPassword,
  type PasswordHasher,
  PasswordQueueFull,
  passwordLimits,
} from '../../crypto/password.ts';
import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, randomSecret } from '../../crypto/secret.ts';
import { type AccountStore, passwordResetKind } from '../../storage/accounts.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import type { KnownDevices } from '../authentication/known-device.ts';
import { cookieName } from '../cookie-name.ts';
import { rejectAsPage } from '../endpoint-limits/endpoint-limits.ts';
import { showPage } from '../interactions/page.ts';
import type { GuessLimiter } from '../limits.ts';
import { type Login, ownerOf } from '../login.ts';
import type { Texts } from '../texts/texts.ts';
import {
  type ResetEnd,
  renderPasswordChange,
  renderPasswordReset,
  renderResetEnd,
} from '../views/account/password.ts';
import { type AccountRequest, type PersonalRequest, redirectToPage } from './account-request.ts';
import type { OwnSessions } from './own-session.ts';

/** Options of the change of a password. */
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
 * Carries out a change of the password: by who knows the one there is, counted like a login. Every session and grant of
 * the account ends, and this browser gets a new session (T-123, T-119). It is no younger a login than the one before: a
 * password alone does not open the pages that ask for a login of late, if the account has one-time codes.
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
  redirectToPage({ ctx, url }, 'password?done=1');
}

/**
 * Reads a password that was typed twice, in the fields `next` and `repeat`.
 * @returns the password, or what is wrong with it in a sentence for the person
 */
export function readNewPassword(
  texts: Texts,
  form: URLSearchParams,
): { password: string } | { problem: string } {
  const words = texts.account.password;
  const password = form.get('next') ?? '';
  const { minCharacters, maxBytes } = passwordLimits;
  if ([...password].length < minCharacters) return { problem: words.tooShort(minCharacters) };
  if (Buffer.byteLength(password) > maxBytes) return { problem: words.tooLong(maxBytes) };
  if (password !== form.get('repeat')) return { problem: words.different };
  return { password };
}

/** Enough to choose a password; whoever takes longer opens the link again, which works until it is used. */
const keptSeconds = 900;

/** Form of a key; a cookie contains nothing else. */
const keyShape = /^[\w-]{1,64}$/;

function cookieOf({ url }: AccountRequest) {
  const { pathname, protocol } = new URL(url);
  const secure = protocol === 'https:';
  const name = cookieName(url, 'reset', 'path');
  // Lax: the link is opened out of mail and chat, and the page it leads on to has to get the cookie.
  const path = `${pathname}/reset`;
  return { name, attributes: { httpOnly: true, sameSite: 'lax', secure, path, signed: true } } as const;
}

/** The name of the page in its address is the other half of what opens the cookie. */
const contextOf = (page: string): string => JSON.stringify(['ResetKey', page]);

/**
 * Moves the key of a link out of the URL, which histories and pictures of the screen show, into a cookie of the page. The
 * cookie is sealed for the page whose address has the name returned here: a server at another port of the host may get the
 * cookie, but not the address (T-208).
 * @returns the path of the page, below `/account`
 */
function keepResetKey(request: AccountRequest, box: SealedBox): string {
  const { name, attributes } = cookieOf(request);
  const { key } = request.ctx.query;
  if (typeof key !== 'string' || !keyShape.test(key)) {
    dropResetKey(request);
    return 'reset';
  }
  const page = randomSecret(16);
  const sealed = box.seal(key, contextOf(page)).toString('base64url');
  request.ctx.cookies.set(name, sealed, { ...attributes, maxAge: keptSeconds * 1000 });
  return `reset?page=${page}`;
}

/** Returns the key of the link that was opened last in this browser, for its own page. */
function findResetKey(request: AccountRequest, box: SealedBox): string | undefined {
  const sealed = request.ctx.cookies.get(cookieOf(request).name, { signed: true });
  const { page } = request.ctx.query;
  if (!sealed || typeof page !== 'string') return undefined;
  try {
    return box.open(Buffer.from(sealed, 'base64url'), contextOf(page));
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

/** Forgets it. */
function dropResetKey(request: AccountRequest): void {
  const { name, attributes } = cookieOf(request);
  request.ctx.cookies.set(name, null, attributes);
}

/** Options of the reset of a password. */
export interface ResetPageOptions {
  accounts: AccountStore;
  artifacts: ArtifactStore;
  box: SealedBox;
  hasher: PasswordHasher;
  /** Links of an address that do not work. */
  wrongLinks: GuessLimiter;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Answers a link that does not work, which counts for the address it came from, and any link beyond that limit.
 * @returns whether it answered
 */
async function answerClosed(
  request: AccountRequest,
  id: string,
  options: ResetPageOptions,
): Promise<boolean> {
  const address = String(request.ctx.state.clientAddress);
  const wait = await options.wrongLinks.take(address);
  if (wait > 0) {
    rejectAsPage(request.ctx, wait, 'too many reset links from this address do not work');
    return true;
  }
  const row = await options.artifacts.find(passwordResetKind, id);
  const open = row !== undefined && row.expiresAt > options.now();
  if (open) await options.wrongLinks.giveBack(address);
  else showEnd(request, 'gone');
  return !open;
}

function showEnd({ ctx, texts, url }: AccountRequest, end: ResetEnd): void {
  if (end !== 'done') ctx.status = 400;
  showPage(ctx, renderResetEnd(texts, url, end));
}

/**
 * Shows the form behind a link that an operator made. The link itself leads on to a page without the key in its address,
 * and uses nothing up: mail scanners open links as well.
 */
export async function showReset(request: AccountRequest, options: ResetPageOptions): Promise<void> {
  const { ctx, texts, url, csrf } = request;
  if (ctx.query.key !== undefined) {
    return redirectToPage(request, keepResetKey(request, options.box));
  }
  if (ctx.query.done !== undefined) return showEnd(request, 'done');
  const key = findResetKey(request, options.box);
  if (key === undefined) return showEnd(request, 'noLink');
  if (await answerClosed(request, hashSecret(passwordResetKind, key), options)) return;
  showPage(ctx, renderPasswordReset(texts, { url, csrf, key }));
}

/** Sets the password. Of many who come with one link one wins, and every session and grant ends (T-123). */
export async function submitReset(request: AccountRequest, options: ResetPageOptions): Promise<void> {
  const { ctx, texts, url, csrf, form } = request;
  const { accounts, hasher, audit, now } = options;
  const key = form.get('key') ?? '';
  const id = hashSecret(passwordResetKind, key);
  const refuse = (status: number, problem: string): void => {
    ctx.status = status;
    showPage(ctx, renderPasswordReset(texts, { url, csrf, key, problem }));
  };

  if (await answerClosed(request, id, options)) return;
  const typed = readNewPassword(texts, form);
  if ('problem' in typed) return refuse(400, typed.problem);
  const passwordHash = await hasher.hash(typed.password, [`reset ${id}`]).catch((error) => {
    if (error instanceof PasswordQueueFull) return undefined;
    throw error;
  });
  if (passwordHash === undefined) {
    audit('login.throttled', ctx, { reason: 'busy' });
    return refuse(503, texts.login.busy);
  }
  const accountId = await accounts.resetPassword(id, passwordHash, now());
  if (accountId === undefined) return showEnd(request, 'gone');
  audit('account.password_reset', ctx, { accountId });
  dropResetKey(request);
  redirectToPage(request, 'reset?done=1');
}
