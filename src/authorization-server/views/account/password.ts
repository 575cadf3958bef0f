import type { Texts } from '../../texts/texts.ts';
import { renderLayout } from '../layout.ts';
import { markup } from '../markup.ts';
import { type AccountPageFrame, csrfField, newPasswordField, renderAccountPage } from './frame.ts';

/**
 * Renders the page for changing the password. Posts `csrf`, `current`, `next` and `repeat`. A user without a password
 * gets an explanation instead.
 * @returns a complete HTML document that needs no script
 */
export function renderPasswordChange(
  texts: Texts,
  page: AccountPageFrame & { email: string; hasPassword: boolean },
): string {
  const words = texts.account.password;
  if (!page.hasPassword)
    return renderAccountPage(texts, page, words.heading, markup`<p>${words.unknown}</p>`);
  return renderAccountPage(
    texts,
    page,
    words.heading,
    markup`<p>${words.explanation}</p>
<form method="post" action="${page.url}/password">
${csrfField(page.csrf)}
<input type="text" name="username" autocomplete="username" value="${page.email}" hidden>
<div class="field"><label for="current">${words.current}</label>
<input id="current" name="current" type="password" autocomplete="current-password" required></div>
${newPasswordField(words.next, 'next')}
${newPasswordField(words.repeat, 'repeat')}
<button class="primary" type="submit">${words.submit}</button>
</form>`,
  );
}

/**
 * The page behind a reset link. Posts `csrf`, `key`, `next` and `repeat`.
 * @param page `key` is what the link carries
 * @returns a complete HTML document that needs no script
 */
export function renderPasswordReset(
  texts: Texts,
  page: { url: string; csrf: string; key: string; problem?: string | undefined },
): string {
  const words = texts.account;
  return renderLayout(
    texts,
    texts.layout.title(words.reset.heading, words.title),
    markup`<h1>${words.reset.heading}</h1>
<p>${words.reset.explanation}</p>${
      page.problem !== undefined &&
      markup`
<div class="notice problem" id="problem" role="alert"><p>${page.problem}</p></div>`
    }
<form method="post" action="${page.url}/reset">
${csrfField(page.csrf)}
<input type="hidden" name="key" value="${page.key}">
${newPasswordField(words.password.next, 'next')}
${newPasswordField(words.password.repeat, 'repeat')}
<button class="primary" type="submit">${words.reset.submit}</button>
</form>`,
  );
}

/** Result of a reset: the password was set, its link is no longer valid, or there was no link. */
export type ResetEnd = 'done' | 'gone' | 'noLink';

/** The page after a reset, or instead of one. @returns a complete HTML document that needs no script */
export function renderResetEnd(texts: Texts, url: string, end: ResetEnd): string {
  const words = texts.account;
  const { heading, message, hint } = {
    done: { heading: words.reset.doneHeading, message: words.reset.done, hint: undefined },
    gone: { heading: words.problemTitle, message: words.reset.gone, hint: words.reset.goneHint },
    noLink: { heading: words.problemTitle, message: words.reset.noLink, hint: words.reset.noLinkHint },
  }[end];
  return renderLayout(
    texts,
    texts.layout.title(words.reset.heading, words.title),
    markup`<h1>${heading}</h1>
<p>${message}</p>
${hint !== undefined && markup`<p>${hint}</p>\n`}<p><a href="${url}/login">${words.login.heading}</a></p>`,
  );
}
