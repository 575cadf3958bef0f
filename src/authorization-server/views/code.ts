import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** The page that asks for a one-time code after the password. */
export interface CodePage {
  action: string;
  csrf: string;
  /** Says, sealed, whose password was right. */
  pending: string;
  /** What it is that one logs in to. */
  about: string;
  /** Why the last code was not taken. */
  problem?: string;
}

/**
 * The code page. Posts `csrf`, `pending` and `code` to `action`.
 * @param texts the words
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 */
export function renderCode(texts: Texts, page: CodePage): string {
  const words = texts.account.code;
  return renderLayout(
    texts,
    texts.layout.title(words.heading, displayText(page.about)),
    markup`<h1>${words.heading}</h1>
<p>${words.explanation}</p>${
      page.problem !== undefined &&
      markup`
<div class="notice problem" id="problem" role="alert"><p>${displayText(page.problem, 300)}</p></div>`
    }
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="pending" value="${page.pending}">
<div class="field"><label for="code">${words.label}</label>
<input class="code" id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="64" required autofocus></div>
<button class="primary" type="submit">${words.submit}</button>
</form>`,
  );
}
