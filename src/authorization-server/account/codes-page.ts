import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import type { AuditLog } from '../audit.ts';
import { makeOneTimeSecret, oneTimeKeyUri } from '../authentication/one-time-password.ts';
import type { SecondFactor } from '../authentication/second-factor.ts';
import { showPage } from '../interactions/page.ts';
import type { Limiter } from '../limits.ts';
import { renderCodesOff, renderCodesOn, renderRecoveryCodes } from '../views/account/codes.ts';
import { goToPage, type PersonalRequest } from './account-request.ts';
import { findFreshCodes, freshCodesPage, keepFreshCodes } from './fresh-codes.ts';

/** What the page of one-time codes works with. */
export interface CodesPageOptions {
  secondFactor: SecondFactor;
  box: SealedBox;
  /** Wrong codes of an account. */
  wrongCodes: Limiter;
  audit: AuditLog;
  /** Host of this server: what the authenticator app calls it. */
  host: string;
  /** Epoch seconds. */
  now: () => number;
}

/** What a secret that is not kept yet is sealed for: this person's login. */
function contextOf({ who }: PersonalRequest): string {
  return JSON.stringify(['OneTimeEnrolment', who.account.id, who.session.uid]);
}

function openEnrolment(request: PersonalRequest, box: SealedBox): string | undefined {
  try {
    return box.open(Buffer.from(request.form.get('enrolment') ?? '', 'base64url'), contextOf(request));
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
    sealed: box.seal(secret, contextOf(request)).toString('base64url'),
    uri: oneTimeKeyUri(secret, who.account.email, host),
  };
  showPage(ctx, renderCodesOff(texts, { url, csrf, problem, enrolment }));
}

/** Goes on to the page of new recovery codes: loading that one again posts no form again, which would make others. */
function goToFreshCodes(request: PersonalRequest, options: CodesPageOptions, codes: string[]): void {
  keepFreshCodes(request, options, codes);
  goToPage(request, freshCodesPage);
}

/** Shows the recovery codes that were just made; afterwards, and in another browser, whether codes are on. */
export async function showFreshCodes(request: PersonalRequest, options: CodesPageOptions): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const codes = findFreshCodes(request, options);
  const isOn = (await options.secondFactor.recoveryCodesLeft(who.account.id)) !== undefined;
  if (!codes || !isOn) return goToPage(request, 'codes');
  showPage(ctx, renderRecoveryCodes(texts, { url, csrf, codes }));
}

/** KeyedQueue codes on, and goes on to the recovery codes, also where a form that was sent twice has turned them on. */
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
      return goToPage(request, freshCodesPage);
    ctx.status = 400;
    return showCodes(request, options, texts.account.codes.refused);
  }
  await wrongCodes.reset(accountId);
  audit('account.codes_on', ctx, { accountId });
  goToFreshCodes(request, options, codes);
}

/** Makes new recovery codes and goes on to them. */
export async function renewRecoveryCodes(request: PersonalRequest, options: CodesPageOptions): Promise<void> {
  const { secondFactor, audit } = options;
  const accountId = request.who.account.id;
  const codes = await secondFactor.renewRecoveryCodes(accountId);
  if (!codes) return goToPage(request, 'codes');
  audit('account.recovery_codes_made', request.ctx, { accountId });
  goToFreshCodes(request, options, codes);
}

/** KeyedQueue codes off. */
export async function turnCodesOff(
  request: PersonalRequest,
  { secondFactor, audit }: CodesPageOptions,
): Promise<void> {
  const accountId = request.who.account.id;
  await secondFactor.turnOff(accountId);
  audit('account.codes_off', request.ctx, { accountId });
  goToPage(request, 'codes');
}
