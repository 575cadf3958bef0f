import type { StoredPasskey } from '../../../storage/accounts.ts';
import type { Texts } from '../../texts/texts.ts';
import { displayText, timeWords } from '../display-text.ts';
import { type Markup, markup } from '../markup.ts';
import { maxPasskeyName, passkeyNameField, renderPasskeyRegistration } from '../passkey-form.ts';
import { type AccountPageFrame, csrfField, renderAccountPage, renderQuestion } from './frame.ts';

/** What the page of passkeys shows. */
export interface PasskeysPage extends AccountPageFrame {
  passkeys: StoredPasskey[];
  /** A new one: options of a registration, JSON, and the name that is suggested; undefined where browsers take no passkeys for this host. */
  registration: { options: string; name: string } | undefined;
}

function renderPasskey(texts: Texts, page: PasskeysPage, passkey: StoredPasskey): Markup {
  const words = texts.account.passkeys;
  const name = displayText(passkey.name, maxPasskeyName);
  const query = `id=${encodeURIComponent(passkey.id)}`;
  const used = passkey.usedAt === undefined ? texts.account.never : timeWords(texts, passkey.usedAt);
  return markup`<li class="item"><h2><bdi>${name}</bdi></h2>
<p class="muted">${passkey.isSynced ? words.synced : words.single}<br>${words.added(timeWords(texts, passkey.createdAt))}<br>${words.lastUsed(used)}</p>
<p><a href="${page.url}/passkeys/rename?${query}">${words.rename(name)}</a></p>
<a class="button" href="${page.url}/passkeys/remove?${query}">${words.remove(name)}</a></li>
`;
}

/**
 * The page of passkeys: those there are, and a form for another, which shows itself where the browser knows passkeys.
 * @returns a complete HTML document; what is there can be renamed and removed without script
 */
export function renderPasskeys(texts: Texts, page: PasskeysPage): string {
  const words = texts.account.passkeys;
  const { url, csrf, registration } = page;
  return renderAccountPage(
    texts,
    page,
    words.heading,
    markup`<p>${words.explanation}</p>
${
  page.passkeys.length === 0
    ? markup`<p>${words.none}</p>`
    : markup`<ul class="items">
${page.passkeys.map((passkey) => renderPasskey(texts, page, passkey))}</ul>`
}
<p class="muted" data-without-passkeys>${words.needsScript}</p>
${registration !== undefined && renderPasskeyRegistration(texts, { action: `${url}/passkeys`, csrf, ...registration })}`,
  );
}

/**
 * The page on which a passkey gets another name. Posts `csrf`, `id` and `name`.
 * @returns a complete HTML document that needs no script
 */
export function renderPasskeyRenaming(
  texts: Texts,
  page: AccountPageFrame & { passkey: Pick<StoredPasskey, 'id' | 'name'> },
): string {
  const words = texts.account.passkeys;
  const { url, csrf, passkey } = page;
  return renderAccountPage(
    texts,
    page,
    words.rename(displayText(passkey.name, maxPasskeyName)),
    markup`<form method="post" action="${url}/passkeys/rename">
${csrfField(csrf)}
<input type="hidden" name="id" value="${passkey.id}">
${passkeyNameField(words.name, passkey.name)}
<button class="primary" type="submit">${words.submitName}</button>
</form>
<p class="cancel"><a class="button" href="${url}/passkeys">${texts.account.keep}</a></p>`,
  );
}

/**
 * The page that asks whether a passkey is to be removed. Posts `csrf` and `id`.
 * @returns a complete HTML document that needs no script
 */
export function renderPasskeyRemoval(
  texts: Texts,
  page: AccountPageFrame & { passkey: Pick<StoredPasskey, 'id' | 'name'> },
): string {
  const words = texts.account.passkeys;
  const { url, passkey } = page;
  const name = displayText(passkey.name, maxPasskeyName);
  return renderQuestion(texts, page, {
    heading: words.removeHeading(name),
    explanation: words.removeExplanation,
    answer: {
      action: `${url}/passkeys/remove`,
      words: words.remove(name),
      fields: markup`<input type="hidden" name="id" value="${passkey.id}">`,
    },
    keptAt: `${url}/passkeys`,
  });
}
