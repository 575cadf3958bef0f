import type { Texts } from '../texts/texts.ts';
import { type ClientSummary, quotedClientName } from './client-summary.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup, trustedMarkup } from './markup.ts';

/** What the login page shows and where its forms go. */
export interface LoginPage {
  action: string;
  csrf: string;
  client: ClientSummary;
  resourceName: string;
  /** The address typed before, when the page is shown again. */
  email?: string;
  /** Why the last attempt failed, in words that do not tell whether the account exists. */
  problem?: string;
  cancelAction: string;
}

const problemAttributes = trustedMarkup(' aria-invalid="true" aria-describedby="problem"');
const autofocus = trustedMarkup(' autofocus');

/**
 * The login page. Posts `csrf`, `email` and `password` to `action`, or `csrf` alone to `cancelAction`.
 * @param texts the words
 * @param page its content; every text is escaped, client text is made inert (T-059)
 * @returns a complete HTML document that needs no script
 */
export function renderLogin(texts: Texts, page: LoginPage): string {
  const words = texts.login;
  const resourceName = displayText(page.resourceName);
  const problem = page.problem === undefined ? '' : displayText(page.problem, 300);
  const faulty = problem !== '' && problemAttributes;
  return renderLayout(
    texts,
    texts.layout.title(words.heading, resourceName),
    markup`<h1>${words.heading}</h1>
<p>${words.request(quotedClientName(texts, page.client), markup`<bdi class="name">${resourceName}</bdi>`)}</p>
<p class="muted">${words.nameNotChecked}</p>${
      problem !== '' &&
      markup`
<div class="notice problem" id="problem" role="alert"><p>${problem}</p></div>`
    }
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<div class="field"><label for="email">${words.email}</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required value="${page.email ?? ''}"${faulty}${!page.email && autofocus}></div>
<div class="field"><label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${faulty}${page.email !== undefined && page.email !== '' && autofocus}></div>
<button class="primary" type="submit">${words.submit}</button>
</form>
<form class="cancel" method="post" action="${page.cancelAction}">
<input type="hidden" name="csrf" value="${page.csrf}">
<button type="submit">${words.cancel}</button>
</form>`,
  );
}
