import type { StoredPasskey } from '../../../storage/passkeys.ts';
import type { Texts } from '../../texts/texts.ts';
import { displayText } from '../display-text.ts';
import { type Markup, markup } from '../markup.ts';
import { renderPasskeyRegistration } from '../passkey-form.ts';
import { type AccountPageFrame, renderAccountPage, renderQuestion } from './frame.ts';
import { timeWords } from './time-words.ts';

/** What the page of passkeys shows. */
export interface PasskeysPage extends AccountPageFrame {
  passkeys: StoredPasskey[];
  /** Options of a registration, JSON; undefined where browsers take no passkeys for this host. */
  options: string | undefined;
}

function renderPasskey(texts: Texts, page: PasskeysPage, passkey: StoredPasskey): Markup {
  const words = texts.account.passkeys;
  const name = displayText(passkey.name, 60);
  const used = passkey.usedAt === undefined ? texts.account.never : timeWords(texts, passkey.usedAt);
  return markup`<li class="item"><h2><bdi>${name}</bdi></h2>
<p class="muted">${passkey.isSynced ? words.synced : words.single}<br>${words.added(timeWords(texts, passkey.createdAt))}<br>${words.lastUsed(used)}</p>
<a class="button" href="${page.url}/passkeys/remove?id=${encodeURIComponent(passkey.id)}">${words.remove(name)}</a></li>
`;
}

/**
 * The page of passkeys: those there are, and a form for another, which shows itself where the browser knows passkeys.
 * @returns a complete HTML document; what is there can be removed without script
 */
export function renderPasskeys(texts: Texts, page: PasskeysPage): string {
  const words = texts.account.passkeys;
  const { url, csrf, options } = page;
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
${options !== undefined && renderPasskeyRegistration(texts, { action: `${url}/passkeys`, csrf, options })}`,
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
  const name = displayText(passkey.name, 60);
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
