import type { Texts } from '../../texts/texts.ts';
import { displayText } from '../display-text.ts';
import { renderLayout } from '../layout.ts';
import { type Markup, markup, trustedMarkup } from '../markup.ts';

/** Content of every page below the account overview. */
export interface AccountPageFrame {
  /** URL of the account pages, without a slash at its end. */
  url: string;
  csrf: string;
  /** Reason why the last form was rejected. */
  problem?: string | undefined;
  /** Result of the last form. */
  notice?: string | undefined;
}

/**
 * A page below the account overview: a heading, what became of the last form, the content, and the way back.
 * @param content markup; every text in it is escaped already
 * @returns a complete HTML document
 */
export function renderAccountPage(
  texts: Texts,
  { url, problem, notice }: AccountPageFrame,
  heading: string,
  content: Markup,
): string {
  return renderLayout(
    texts,
    texts.layout.title(heading, texts.account.title),
    markup`<h1>${heading}</h1>${
      problem !== undefined &&
      markup`
<div class="notice problem" id="problem" role="alert"><p>${displayText(problem, 300)}</p></div>`
    }${
      notice !== undefined &&
      markup`
<div class="notice" role="status"><p>${displayText(notice, 300)}</p></div>`
    }
${content}
<p class="cancel"><a href="${url}">${texts.account.back}</a></p>`,
  );
}

/** Question that a page asks before something ends. */
export interface Question {
  heading: string;
  explanation: string;
  /** The form that does it, which posts `csrf` and the fields; left out if it cannot be done. */
  answer?: { action: string; words: string; fields?: Markup } | undefined;
  /** Address of the page that one goes back to without doing it. */
  keptAt: string;
}

/**
 * A page that asks before something ends.
 * @returns a complete HTML document that needs no script
 */
export function renderQuestion(
  texts: Texts,
  page: AccountPageFrame,
  { heading, explanation, answer, keptAt }: Question,
): string {
  return renderAccountPage(
    texts,
    page,
    heading,
    markup`<p>${explanation}</p>
${
  answer !== undefined &&
  markup`<form method="post" action="${answer.action}">
${csrfField(page.csrf)}
${answer.fields !== undefined && markup`${answer.fields}\n`}<button class="primary" type="submit">${answer.words}</button>
</form>
`
}<p class="cancel"><a class="button" href="${keptAt}">${texts.account.keep}</a></p>`,
  );
}

/** A field for a password that is typed anew. @param name of the field, and its id */
export function newPasswordField(label: string, name: string): Markup {
  return markup`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="password" autocomplete="new-password" required></div>`;
}

/** The hidden token of a form. */
export function csrfField(csrf: string): Markup {
  return markup`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** @param svg written by a library of ours, with nothing of anybody in it but squares */
export function trustedSvg(svg: string): Markup {
  return trustedMarkup(svg);
}
