import type { Texts } from '../../texts/texts.ts';
import { type ClientSummary, clientName, httpsHost, quotedClientName } from '../client-summary.ts';
import { displayText, timeWords } from '../display-text.ts';
import { renderLayout } from '../layout.ts';
import { type Markup, markup } from '../markup.ts';

/** An app that may act for the person: one grant. */
export interface ConnectedApp {
  /** Names the grant in the form that ends it. */
  id: string;
  client: ClientSummary;
  /** Permissions by resource; scopes in words, none if the app may only use tools that need no scope. */
  resources: { name: string; scopes: string[] }[];
  /** Epoch seconds. */
  grantedAt: number;
  usedAt?: number;
  expiresAt: number;
}

/** An open MCP session. */
export interface Connection {
  id: string;
  client: ClientSummary;
  /** Display name of the server, if there are several servers. */
  server?: string;
  /** Epoch seconds. */
  createdAt: number;
  usedAt: number;
}

/** A browser in which the person is logged in. */
export interface BrowserLogin {
  id: string;
  isThis: boolean;
  /** Browser of the login; absent if its name is not known. */
  browser?: { name: string; system?: string };
  /** Epoch seconds. */
  loggedInAt: number;
  /** Display name of the upstream of the login, if it had one. */
  upstream?: string;
}

/** Content of the overview. */
export interface AccountOverview {
  /** URL of the account pages, without a slash at its end. */
  url: string;
  csrf: string;
  email: string;
  /** The kind of thing that was just ended, if any. */
  ended?: 'app' | 'connection' | 'browser' | 'browsers' | undefined;
  apps: ConnectedApp[];
  connections: Connection[];
  browsers: BrowserLogin[];
  passkeys: number;
  hasOneTimeCodes: boolean;
  /** Number of linked upstream accounts; undefined if none can be linked. */
  upstreams: number | undefined;
  /** Number of entered and of missing credentials for MCP servers; undefined if there are none to enter. */
  credentials: { entered: number; missing: number } | undefined;
}

function endForm(page: AccountOverview, step: string, id: string, label: string): Markup {
  return markup`<form method="post" action="${page.url}/${step}">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="id" value="${id}">
<button type="submit">${label}</button>
</form>`;
}

function renderApp(texts: Texts, page: AccountOverview, app: ConnectedApp): Markup {
  const words = texts.account.apps;
  const publisher = httpsHost(app.client.clientId);
  const scopes = app.resources.flatMap(({ name, scopes: given }) =>
    (given.length === 0 ? [words.withoutScopes] : given).map(
      (scope) => markup`<li>${displayText(scope, 300)} <span class="detail">${displayText(name)}</span></li>`,
    ),
  );
  return markup`<li class="item"><h3>${quotedClientName(texts, app.client)}</h3>
<p class="muted">${publisher === undefined ? words.notChecked : words.describedBy(publisher)} <span class="detail">${displayText(app.client.clientId, 300)}</span></p>
<p>${words.allowed}${scopes.length === 0 && markup` ${words.nothing}`}</p>${
    scopes.length > 0 &&
    markup`
<ul>${scopes}</ul>`
  }
<p class="muted">${words.since(timeWords(texts, app.grantedAt))}<br>${words.lastUsed(app.usedAt === undefined ? texts.account.never : timeWords(texts, app.usedAt))}<br>${words.until(timeWords(texts, app.expiresAt))}<br><a href="${page.url}/activity?app=${app.id}">${words.activity}</a></p>
${endForm(page, 'apps', app.id, words.end(clientName(texts, app.client)))}</li>
`;
}

function renderConnection(texts: Texts, page: AccountOverview, connection: Connection): Markup {
  const words = texts.account.connections;
  return markup`<li class="item"><h3>${quotedClientName(texts, connection.client)}</h3>
<p class="muted">${connection.server === undefined ? '' : markup`${words.at(markup`<bdi>${displayText(connection.server)}</bdi>`)}<br>`}${words.since(timeWords(texts, connection.createdAt))}<br>${words.lastUsed(timeWords(texts, connection.usedAt))}</p>
${endForm(page, 'connections', connection.id, words.end(clientName(texts, connection.client)))}</li>
`;
}

function renderBrowser(texts: Texts, page: AccountOverview, browser: BrowserLogin): Markup {
  const words = texts.account.browsers;
  const name = browser.browser && words.name(browser.browser.name, browser.browser.system);
  return markup`<li class="item"><h3>${browser.isThis ? words.this(name) : (name ?? words.other)}</h3>
<p class="muted">${words.since(timeWords(texts, browser.loggedInAt))}${browser.upstream !== undefined && markup`<br>${words.through(displayText(browser.upstream))}`}</p>
${!browser.isThis && endForm(page, 'browsers', browser.id, words.end)}</li>
`;
}

function list(entries: Markup[], none: string): Markup {
  return entries.length === 0
    ? markup`<p>${none}</p>`
    : markup`<ul class="items">
${entries}</ul>`;
}

/**
 * The account page: which apps may act for the person, which MCP sessions and browsers are open, and how they log in.
 * Each entry is ended by posting `csrf` and its `id`.
 * @param texts the words
 * @param page its content; every text is escaped, client text is made inert (T-059)
 * @returns a complete HTML document that needs no script
 */
export function renderAccountOverview(texts: Texts, page: AccountOverview): string {
  const words = texts.account;
  return renderLayout(
    texts,
    texts.layout.title(words.title, page.email),
    markup`<h1>${words.title}</h1>
<div class="account">
<p>${words.loggedInAs(markup`<bdi class="name">${displayText(page.email, 254)}</bdi>`)}</p>
<form method="post" action="${page.url}/logout">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="link" type="submit">${words.logOut}</button>
</form>
</div>
${page.ended !== undefined && markup`<div class="notice" role="status"><p>${words.ended[page.ended]}</p></div>\n`}<h2>${words.apps.heading}</h2>
<p>${words.apps.introduction}</p>
${list(
  page.apps.map((app) => renderApp(texts, page, app)),
  words.apps.none,
)}
<h2>${words.connections.heading}</h2>
${list(
  page.connections.map((connection) => renderConnection(texts, page, connection)),
  words.connections.none,
)}
<h2>${words.browsers.heading}</h2>
${list(
  page.browsers.map((browser) => renderBrowser(texts, page, browser)),
  '',
)}
${
  page.browsers.length > 1 &&
  markup`<form method="post" action="${page.url}/browsers/others">
<input type="hidden" name="csrf" value="${page.csrf}">
<button type="submit">${words.browsers.endOthers}</button>
</form>`
}
<h2>${words.security.heading}</h2>
<ul class="items">
<li class="item"><a href="${page.url}/password">${words.security.password}</a></li>
<li class="item"><a href="${page.url}/passkeys">${words.security.passkeys(page.passkeys)}</a></li>
<li class="item"><a href="${page.url}/codes">${page.hasOneTimeCodes ? words.security.codesOn : words.security.codesOff}</a></li>${
      page.upstreams !== undefined &&
      markup`
<li class="item"><a href="${page.url}/upstreams">${words.security.upstreams(page.upstreams)}</a></li>`
    }${
      page.credentials !== undefined &&
      markup`
<li class="item"><a href="${page.url}/credentials">${words.security.credentials(page.credentials.entered, page.credentials.missing)}</a></li>`
    }
</ul>`,
  );
}

/**
 * The page that asks before an app is ended. Posts `csrf`, `id` and `confirm` to the same place.
 * @param texts the words
 * @param page its content; every text is escaped, client text is made inert (T-059)
 * @returns a complete HTML document that needs no script
 */
export function renderAppEnding(
  texts: Texts,
  { url, csrf, app }: { url: string; csrf: string; app: ConnectedApp },
): string {
  const words = texts.account.apps;
  const heading = words.endHeading(clientName(texts, app.client));
  return renderLayout(
    texts,
    texts.layout.title(heading, texts.account.title),
    markup`<h1>${heading}</h1>
<p>${words.endExplanation}</p>
<p class="muted"><span class="detail">${displayText(app.client.clientId, 300)}</span> ${words.since(timeWords(texts, app.grantedAt))}</p>
<form method="post" action="${url}/apps">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="id" value="${app.id}">
<div class="decision">
<a class="button" href="${url}">${texts.account.keep}</a>
<button class="primary" type="submit" name="confirm" value="yes">${words.submitEnd}</button>
</div>
</form>`,
  );
}
