import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import type { AuditLog } from '../audit.ts';
import { makeOneTimeSecret, oneTimeKeyUri, type SecondFactor } from '../authentication/second-factor.ts';
import { cookieName } from '../cookie-name.ts';
import { showPage } from '../interactions/page.ts';
import type { GuessLimiter } from '../limits.ts';
import { renderCodesOff, renderCodesOn, renderRecoveryCodes } from '../views/account/codes.ts';
import { type PersonalRequest, redirectToPage } from './account-request.ts';

/** Options of the page of one-time codes. */
export interface CodesPageOptions {
  secondFactor: SecondFactor;
  box: SealedBox;
  /** Wrong codes of an account. */
  wrongCodes: GuessLimiter;
  audit: AuditLog;
  /** Host of this server: what the authenticator app calls it. */
  host: string;
  /** Epoch seconds. */
  now: () => number;
}

/** Binds a sealed secret that is not stored yet to this login. */
function enrolmentContext({ who }: PersonalRequest): string {
  return JSON.stringify(['OneTimeEnrolment', who.account.id, who.session.uid]);
}

function openEnrolment(request: PersonalRequest, box: SealedBox): string | undefined {
  try {
    return box.open(Buffer.from(request.form.get('enrolment') ?? '', 'base64url'), enrolmentContext(request));
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

/** Shows whether codes are on, with what turns them on or off. A secret in use is never shown again. */
export async function showCodes(
  request: PersonalRequest,
  { secondFactor, box, host }: CodesPageOptions,
  problem?: string,
): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const recoveryCodesLeft = await secondFactor.recoveryCodesLeft(who.account.id);
  if (recoveryCodesLeft !== undefined)
    return showPage(ctx, renderCodesOn(texts, { url, csrf, problem, recoveryCodesLeft }));
  // One that was scanned already stays the one to confirm.
  const secret = openEnrolment(request, box) ?? makeOneTimeSecret();
  const enrolment = {
    secret,
    sealed: box.seal(secret, enrolmentContext(request)).toString('base64url'),
    uri: oneTimeKeyUri(secret, who.account.email, host),
  };
  showPage(ctx, renderCodesOff(texts, { url, csrf, problem, enrolment }));
}

/** Goes on to the page of new recovery codes: loading that one again posts no form again, which would make others. */
function goToFreshCodes(request: PersonalRequest, options: CodesPageOptions, codes: string[]): void {
  keepFreshCodes(request, options, codes);
  redirectToPage(request, freshCodesPage);
}

/** Shows the recovery codes that were just made; afterwards, and in another browser, whether codes are on. */
export async function showFreshCodes(request: PersonalRequest, options: CodesPageOptions): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const codes = findFreshCodes(request, options);
  const isOn = (await options.secondFactor.recoveryCodesLeft(who.account.id)) !== undefined;
  if (!codes || !isOn) return redirectToPage(request, 'codes');
  showPage(ctx, renderRecoveryCodes(texts, { url, csrf, codes }));
}

/**
 * Turns one-time codes on and redirects to the recovery codes, also if a form that was sent twice has turned them on.
 */
export async function turnCodesOn(request: PersonalRequest, options: CodesPageOptions): Promise<void> {
  const { ctx, texts, form, who } = request;
  const { secondFactor, box, wrongCodes, audit } = options;
  const accountId = who.account.id;
  const wait = await wrongCodes.take(accountId);
  if (wait > 0) {
    ctx.status = 429;
    ctx.set('Retry-After', String(wait));
    return showCodes(request, options, texts.login.throttled(wait));
  }
  const secret = openEnrolment(request, box);
  const code = form.get('code') ?? '';
  const codes = secret === undefined ? undefined : await secondFactor.turnOn(accountId, secret, code);
  if (!codes) {
    if ((await secondFactor.recoveryCodesLeft(accountId)) !== undefined)
      return redirectToPage(request, freshCodesPage);
    ctx.status = 400;
    return showCodes(request, options, texts.account.codes.refused);
  }
  await wrongCodes.reset(accountId);
  audit('account.codes_on', ctx, { accountId });
  goToFreshCodes(request, options, codes);
}

/** Creates new recovery codes, and shows them. */
export async function renewRecoveryCodes(request: PersonalRequest, options: CodesPageOptions): Promise<void> {
  const { secondFactor, audit } = options;
  const accountId = request.who.account.id;
  const codes = await secondFactor.renewRecoveryCodes(accountId);
  if (!codes) return redirectToPage(request, 'codes');
  audit('account.recovery_codes_made', request.ctx, { accountId });
  goToFreshCodes(request, options, codes);
}

/** Turns one-time codes off. */
export async function turnCodesOff(
  request: PersonalRequest,
  { secondFactor, audit }: CodesPageOptions,
): Promise<void> {
  const accountId = request.who.account.id;
  await secondFactor.turnOff(accountId);
  audit('account.codes_off', request.ctx, { accountId });
  redirectToPage(request, 'codes');
}

/** Options for keeping fresh recovery codes. */
export interface FreshCodesOptions {
  box: SealedBox;
  /** Epoch seconds. */
  now: () => number;
}

/** Page that shows them, below the account pages. */
const freshCodesPage = 'codes/new';

/** Long enough to write them down, and to load the page once more. */
const shownSeconds = 300;

function cookieOf({ url }: PersonalRequest) {
  const { pathname, protocol } = new URL(url);
  const secure = protocol === 'https:';
  const name = cookieName(url, 'recovery-codes', 'path');
  const path = `${pathname}/${freshCodesPage}`;
  return { name, attributes: { httpOnly: true, sameSite: 'strict', secure, path, signed: false } } as const;
}

/** Binds sealed recovery codes to this login: no other login can open them, in no browser. */
function recoveryContext({ who }: PersonalRequest): string {
  return JSON.stringify(['FreshRecoveryCodes', who.account.id, who.session.uid]);
}

/**
 * Keeps recovery codes that were just made for the page that shows them. The database has hashes alone, so the browser
 * keeps the codes themselves, sealed and for a few minutes: a page that is loaded once more then makes no new ones.
 */
function keepFreshCodes(
  request: PersonalRequest,
  { box, now }: FreshCodesOptions,
  codes: readonly string[],
): void {
  const { name, attributes } = cookieOf(request);
  const sealed = box.seal(JSON.stringify({ codes, until: now() + shownSeconds }), recoveryContext(request));
  request.ctx.cookies.set(name, sealed.toString('base64url'), { ...attributes, maxAge: shownSeconds * 1000 });
}

/** Returns the recovery codes that this login made within the last minutes. */
function findFreshCodes(request: PersonalRequest, { box, now }: FreshCodesOptions): string[] | undefined {
  const sealed = request.ctx.cookies.get(cookieOf(request).name, { signed: false });
  if (!sealed) return undefined;
  try {
    const { codes, until } = JSON.parse(box.open(Buffer.from(sealed, 'base64url'), recoveryContext(request)));
    return until > now() ? codes : undefined;
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
