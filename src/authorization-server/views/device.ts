import type { Texts } from '../texts/texts.ts';
import { type ClientSummary, clientName, quotedClientName } from './client-summary.ts';
import { renderIdentity } from './consent.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';
import { type DeviceRequest, describeAnswerTarget } from './redirect-target.ts';

/** Content of the page for a device's code, and target of its form. */
export interface DeviceCodePage {
  action: string;
  csrf: string;
  /** The code a link carried: the person compares it instead of typing it. */
  linkedCode?: string;
  /** The code typed before, when the page is shown again. */
  typedCode?: string;
  problem?: string;
}

/** Content of the page that asks whether a device is the user's own. */
export interface DeviceConfirmPage {
  action: string;
  csrf: string;
  client: ClientSummary;
  resourceName: string;
  device: DeviceRequest;
}

/** Longest code shown of a link; ours have nine characters. */
const maxCodeCharacters = 20;

const problemAttributes = trustedMarkup(' aria-invalid="true" aria-describedby="problem"');

function renderTypedCode(texts: Texts, { typedCode = '', problem }: DeviceCodePage): Markup {
  const words = texts.device;
  return markup`<p>${words.enterCode}</p>
<div class="field"><label for="user_code">${words.code}</label>
<input class="code" id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40" required value="${typedCode}"${problem !== undefined && problemAttributes} autofocus></div>`;
}

function renderLinkedCode(texts: Texts, code: string): Markup {
  const words = texts.device;
  return markup`<p>${words.compareCode}</p>
<p class="code">${displayText(code, maxCodeCharacters)}</p>
<input type="hidden" name="user_code" value="${code}">`;
}

/**
 * The page on which a person enters the code of a device, or compares the one a link has brought. Posts `xsrf` and
 * `user_code`.
 * @param texts the words
 * @param page its content; a code out of a link is made inert (T-059)
 * @returns a complete HTML document that needs no script
 * @see RFC 8628 sections 3.3, 3.3.1 and 5.4 (T-029)
 */
export function renderDeviceCode(texts: Texts, page: DeviceCodePage): string {
  const words = texts.device;
  const { linkedCode, problem } = page;
  return renderLayout(
    texts,
    texts.layout.title(words.heading, texts.layout.product),
    markup`<h1>${words.heading}</h1>${
      problem !== undefined &&
      markup`
<div class="notice problem" id="problem" role="alert"><p>${problem}</p></div>`
    }
<div class="notice caution"><p>${words.ownWork}</p></div>
<form method="post" action="${page.action}">
<input type="hidden" name="xsrf" value="${page.csrf}">
${linkedCode === undefined ? renderTypedCode(texts, page) : renderLinkedCode(texts, linkedCode)}
<button class="primary" type="submit">${linkedCode === undefined ? words.goOn : words.sameCode}</button>
</form>`,
  );
}

/**
 * Renders the page that asks if the waiting device belongs to the user. It names the app and the time of the request.
 * Its form posts `xsrf`, `user_code`, and `confirm` or `abort`. `abort` is the first button, so the Enter key rejects.
 * @param texts the words
 * @param page its content; client text is made inert (T-059, T-060)
 * @returns a complete HTML document that needs no script
 * @see RFC 8628 sections 5.4 and 5.5 (T-029)
 */
export function renderDeviceConfirm(texts: Texts, page: DeviceConfirmPage): string {
  const words = texts.device;
  const { device, client } = page;
  const target = describeAnswerTarget(texts, { device });
  const resource = markup`<bdi class="name">${displayText(page.resourceName)}</bdi>`;
  return renderLayout(
    texts,
    texts.layout.title(words.confirmTitle(clientName(texts, client)), texts.layout.product),
    markup`<h1>${words.confirmHeading}</h1>
<p>${words.request(quotedClientName(texts, client), resource)}</p>
<p class="code">${device.userCode}</p>
${renderIdentity(texts, client, target)}
<dl>
<dt>${words.whereAndWhen}</dt>
<dd>${target.detail}</dd>
<dt>${texts.consent.facts.identifier}</dt>
<dd><span class="detail">${displayText(client.clientId, 300)}</span></dd>
</dl>
<p>${words.refuseIfInDoubt}</p>
<form class="decision" method="post" action="${page.action}">
<input type="hidden" name="xsrf" value="${page.csrf}">
<input type="hidden" name="user_code" value="${device.userCode}">
<button type="submit" name="abort" value="yes">${words.notMine}</button>
<button class="primary" type="submit" name="confirm" value="yes">${words.mine}</button>
</form>`,
  );
}
