import { chooseTexts, type Texts } from '../texts/texts.ts';
import { contentSecurityPolicy, pageHeaders } from './content-security-policy.ts';
import { displayText } from './display-text.ts';
import { renderError } from './error.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup } from './markup.ts';

/** Content of the page at the public URL. */
export interface HomePage {
  /** Title of the page if there are several servers. */
  name: string;
  /** The MCP servers; at least one. */
  servers: readonly { name: string; mcpUrl: string }[];
  /** URL of the account page. */
  accountUrl: string;
}

const nameOf = (name: string): Markup => markup`<bdi class="name">${displayText(name)}</bdi>`;

/**
 * The page a person finds who opens the public URL: what this server is, and how an app is connected to it.
 * @param texts the words
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 */
export function renderHome(texts: Texts, { name, servers, accountUrl }: HomePage): string {
  const words = texts.home;
  const [first, ...more] = servers;
  const introduction =
    more.length === 0
      ? markup`<h1>${words.heading}</h1>
<p>${words.introduction(nameOf(first?.name ?? name))}</p>`
      : markup`<h1>${words.headingOfSeveral}</h1>
<p>${words.introductionOfSeveral}</p>`;
  return renderLayout(
    texts,
    texts.layout.title(more.length === 0 && first ? first.name : name, texts.layout.product),
    markup`${introduction}
<dl>
${servers.map(
  (server) => markup`<dt>${more.length === 0 ? words.mcpUrl : nameOf(server.name)}</dt>
<dd><span class="detail">${server.mcpUrl}</span></dd>
`,
)}<dt>${words.connect}</dt>
<dd><span class="detail">${`claude mcp add --transport http gatehouse ${first?.mcpUrl ?? ''}`}</span></dd>
</dl>
<p><a href="${accountUrl}">${words.account}</a></p>`,
  );
}

/** A failure outside of any login, or a path that is not ours, as a person is told about it. */
export interface Failure {
  status: number;
  /** The failure's name on the wire. */
  code: string;
  requestId: string;
  /** Languages of the browser, as it sent them. */
  acceptLanguage: string;
}

const withHeaders = (html: string) => ({
  headers: { ...pageHeaders, 'Content-Security-Policy': contentSecurityPolicy() },
  html,
});

/**
 * Builds the page for the public URL itself, with its headers.
 * @param page what it shows
 * @param acceptLanguage what the browser sent of its languages
 */
export function buildHomePage(page: HomePage, acceptLanguage: string) {
  return withHeaders(renderHome(chooseTexts({ acceptLanguage }), page));
}

/** Builds the page for a failure of the server or a path that is not ours, with its headers. Tells no cause (T-196). */
export function buildFailurePage({ status, code, requestId, acceptLanguage }: Failure) {
  const texts = chooseTexts({ acceptLanguage });
  const { temporarily_unavailable, server_error, not_found } = texts.error.explanations;
  const words = status === 404 ? not_found : status === 503 ? temporarily_unavailable : server_error;
  return withHeaders(renderError(texts, { ...words, code, requestId }));
}
