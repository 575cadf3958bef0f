import { renderSVG } from 'uqr';
import type { Texts } from '../../texts/texts.ts';
import { markup } from '../markup.ts';
import { type AccountPageFrame, csrfField, renderAccountPage, trustedSvg } from './frame.ts';

/** Data for an authenticator app, shown once. */
export interface Enrolment {
  /** The secret, sealed for this login. */
  sealed: string;
  /** The secret, base32, for those who type. */
  secret: string;
  /** `otpauth:` URI, for those who scan. */
  uri: string;
}

/** The secret in groups of four, which are easier to type. */
function grouped(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? secret;
}

/**
 * The page that turns one-time codes on. Posts `csrf`, `enrolment` and `code`. The QR code is drawn by `uqr`, which has
 * no dependencies, into the page itself.
 * @returns a complete HTML document that needs no script
 */
export function renderCodesOff(texts: Texts, page: AccountPageFrame & { enrolment: Enrolment }): string {
  const words = texts.account.codes;
  const { sealed, secret, uri } = page.enrolment;
  return renderAccountPage(
    texts,
    page,
    words.heading,
    markup`<p>${words.off}</p>
<p>${words.scan}</p>
<div class="qr" role="img" aria-label="${words.picture}">${trustedSvg(renderSVG(uri))}</div>
<dl><dt>${words.key}</dt><dd><span class="detail">${grouped(secret)}</span></dd></dl>
<form method="post" action="${page.url}/codes">
${csrfField(page.csrf)}
<input type="hidden" name="enrolment" value="${sealed}">
<div class="field"><label for="code">${words.label}</label>
<input class="code" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required></div>
<button class="primary" type="submit">${words.turnOn}</button>
</form>`,
  );
}

/**
 * Renders the page for enabled one-time codes: new recovery codes, or off.
 * @returns a complete HTML document
 */
export function renderCodesOn(texts: Texts, page: AccountPageFrame & { recoveryCodesLeft: number }): string {
  const words = texts.account.codes;
  return renderAccountPage(
    texts,
    page,
    words.heading,
    markup`<p>${words.on(page.recoveryCodesLeft)}</p>
<p>${words.renewal}</p>
<form method="post" action="${page.url}/codes/recovery">
${csrfField(page.csrf)}
<button type="submit">${words.newRecoveryCodes}</button>
</form>
<form class="cancel" method="post" action="${page.url}/codes/off">
${csrfField(page.csrf)}
<button type="submit">${words.turnOff}</button>
</form>`,
  );
}

/** The page that shows recovery codes that were just made. @returns a complete HTML document */
export function renderRecoveryCodes(texts: Texts, page: AccountPageFrame & { codes: string[] }): string {
  const words = texts.account.codes;
  return renderAccountPage(
    texts,
    page,
    words.recoveryHeading,
    markup`<p>${words.recovery}</p>
<ul class="codes">${page.codes.map((code) => markup`<li>${code}</li>`)}</ul>`,
  );
}
