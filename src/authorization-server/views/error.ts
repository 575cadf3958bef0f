import { checkRedirectUri } from '../../oauth/redirect-uri.ts';
import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup } from './markup.ts';

/** Content of the error page. */
export interface ErrorPage {
  title: string;
  /** Description of the error, in words. */
  message: string;
  /** The failure's name, an OAuth error code or one of ours. */
  code: string;
  /** Advice. */
  hint?: string;
  /** Advice for each app in common use. */
  ways?: readonly { app: string; way: string }[];
  /** The client identifier it is about, as it was sent. */
  clientId?: string;
  /** Details for a developer, in English, as the standard's `error_description`. */
  detail?: string;
  /** A way on: an http(s) or private-use URI the caller has validated. */
  continueTo?: { href: string; label: string };
  requestId?: string;
}

/** @returns whether a link to the URI leads somewhere instead of running or rendering it (T-003) */
function isLinkable(uri: string): boolean {
  const url = URL.parse(uri);
  return url !== null && checkRedirectUri(`${url.protocol}//host`) !== 'forbidden_scheme';
}

function renderContinue({ href, label }: { href: string; label: string }): Markup {
  return markup`<p><a class="button primary" href="${href}" rel="noreferrer">${displayText(label)}</a></p>
`;
}

function renderWays(ways: NonNullable<ErrorPage['ways']>): Markup {
  return markup`<dl>${ways.map(
    ({ app, way }) => markup`
<dt>${app}</dt>
<dd>${way}</dd>`,
  )}
</dl>
`;
}

/**
 * The error page.
 * @param texts the words around the content
 * @param page its content; every text is escaped and made inert (T-059). A `continueTo` with a scheme that runs
 *   code, or that is not an absolute URI, is left out.
 * @returns a complete HTML document that needs no script
 */
export function renderError(texts: Texts, page: ErrorPage): string {
  const words = texts.error;
  return renderLayout(
    texts,
    texts.layout.title(page.title, texts.layout.product),
    markup`<h1>${displayText(page.title)}</h1>
<p>${displayText(page.message, 500)}</p>
${page.hint !== undefined && markup`<p>${displayText(page.hint, 500)}</p>`}
${page.continueTo && isLinkable(page.continueTo.href) && renderContinue(page.continueTo)}${page.ways && renderWays(page.ways)}<dl>
<dt>${words.code}</dt>
<dd><span class="detail">${displayText(page.code)}</span></dd>${
      page.clientId !== undefined &&
      markup`
<dt>${words.clientId}</dt>
<dd><span class="detail">${displayText(page.clientId)}</span></dd>`
    }${
      page.detail !== undefined &&
      markup`
<dt>${words.detail}</dt>
<dd lang="en"><span class="detail">${displayText(page.detail, 500)}</span></dd>`
    }${
      page.requestId !== undefined &&
      markup`
<dt>${words.requestId}</dt>
<dd><span class="detail">${displayText(page.requestId)}</span></dd>`
    }
</dl>`,
  );
}
