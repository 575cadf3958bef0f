import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';
import { describeRedirectTarget } from './redirect-target.ts';

/** Content of the logout page and target of its form. */
export interface LogoutPage {
  action: string;
  csrf: string;
  /** Name of the logged-in account; undefined if nobody is logged in. */
  account: string | undefined;
  /** Target of the redirect afterwards, if it leads off this server. */
  redirectUri: string | undefined;
}

/**
 * Renders the logout page with the user and the target of the redirect. Its form posts `xsrf`, and `logout` if the user
 * agrees.
 * @param texts the words
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 * @throws TypeError if the redirect URI could not have been registered
 * @see OpenID Connect RP-Initiated Logout 1.0 section 2 (T-122)
 */
export function renderLogout(texts: Texts, page: LogoutPage): string {
  const words = texts.logout;
  const { account, redirectUri } = page;
  const target = redirectUri === undefined ? undefined : describeRedirectTarget(redirectUri);
  const goesTo = target && markup`<strong>${texts.consent.target[target.kind](target.name)}</strong>`;
  return renderLayout(
    texts,
    texts.layout.title(words.heading, texts.layout.product),
    markup`<h1>${words.heading}</h1>
<p>${account === undefined ? words.nobody : words.loggedInAs(markup`<bdi class="name">${displayText(account, 254)}</bdi>`)}</p>
${account !== undefined && markup`<p>${words.appsStay}</p>`}
${goesTo && markup`<p>${words.goesOn(goesTo)}</p>`}
<form class="${account === undefined ? 'cancel' : 'decision'}" method="post" action="${page.action}">
<input type="hidden" name="xsrf" value="${page.csrf}">
${account !== undefined && markup`<button type="submit">${words.stay}</button>`}
<button class="primary" type="submit" name="logout" value="yes">${account === undefined ? words.goOn : words.submit}</button>
</form>`,
  );
}
