import type { Texts } from '../texts/texts.ts';
import { type ClientSummary, quotedClientName } from './client-summary.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';
import { type PasskeyForm, renderPasskeyLogin } from './passkey-form.ts';

/** What the login page shows and where its forms go. */
export interface LoginPage {
  action: string;
  csrf: string;
  /** The app that asks; undefined where a person logs in for themselves. */
  client?: ClientSummary;
  /** What it is that one logs in to. */
  resourceName: string;
  /** What stands in the place of the app's request. */
  introduction?: string;
  /** The address typed before, when the page is shown again. */
  email?: string;
  /** Why the last attempt failed, in words that do not tell whether the account exists. */
  problem?: string;
  cancelAction?: string;
  /** Other logins one may come through. */
  upstreams?: UpstreamChoices;
  /** Whether one may only come through one of them. */
  upstreamsOnly?: boolean;
  /** A login with a passkey, where somebody here has one. */
  passkey?: PasskeyForm;
}

/** Logins elsewhere that are offered: posts `csrf` and `upstream`, its name. */
export interface UpstreamChoices {
  action: string;
  /** Where it is not that of the page. */
  csrf?: string;
  choices: readonly { name: string; label: string }[];
}

const problemAttributes = trustedMarkup(' aria-invalid="true" aria-describedby="problem"');
const autofocus = trustedMarkup(' autofocus');

function renderRequest(texts: Texts, { client, introduction }: LoginPage, resourceName: string): Markup {
  if (!client) return markup`<p>${introduction}</p>`;
  const { request, nameNotChecked } = texts.login;
  return markup`<p>${request(quotedClientName(texts, client), markup`<bdi class="name">${resourceName}</bdi>`)}</p>
<p class="muted">${nameNotChecked}</p>`;
}

function renderUpstreams(texts: Texts, { csrf: ofPage, upstreams, upstreamsOnly }: LoginPage): Markup {
  const { action, csrf = ofPage, choices = [] } = upstreams ?? {};
  return markup`${choices.length > 0 && !upstreamsOnly && markup`<p class="or muted">${texts.upstream.or}</p>\n`}${
    choices.length > 0 &&
    markup`<form class="choices" method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${choices.map(
  ({ name, label }) =>
    markup`<button type="submit" name="upstream" value="${name}">${texts.upstream.logInWith(displayText(label))}</button>
`,
)}</form>
`
  }`;
}

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
${renderRequest(texts, page, resourceName)}${
  problem !== '' &&
  markup`
<div class="notice problem" id="problem" role="alert"><p>${problem}</p></div>`
}
${page.passkey && renderPasskeyLogin(texts, page.passkey)}
${
  !page.upstreamsOnly &&
  markup`<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<div class="field"><label for="email">${words.email}</label>
<input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required value="${page.email ?? ''}"${faulty}${!page.email && autofocus}></div>
<div class="field"><label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${faulty}${page.email !== undefined && page.email !== '' && autofocus}></div>
<button class="primary" type="submit">${words.submit}</button>
</form>
`
}${renderUpstreams(texts, page)}${
  page.cancelAction !== undefined &&
  markup`<form class="cancel" method="post" action="${page.cancelAction}">
<input type="hidden" name="csrf" value="${page.csrf}">
<button type="submit">${words.cancel}</button>
</form>`
}`,
  );
}

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
