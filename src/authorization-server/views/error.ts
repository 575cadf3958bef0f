import { checkRedirectUri } from '../../oauth/redirect-uri.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup } from './markup.ts';

/** What the error page shows. */
export interface ErrorPage {
  title: string;
  /** What happened, in words. */
  message: string;
  /** The failure's name, an OAuth error code or one of ours. */
  code: string;
  /** What to do about it. */
  hint?: string;
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

/**
 * The error page.
 * @param page its content; every text is escaped and made inert (T-059). A `continueTo` with a scheme that runs
 *   code, or that is not an absolute URI, is left out.
 * @returns a complete HTML document that needs no script
 */
export function renderError(page: ErrorPage): string {
  return renderLayout(
    `${page.title} – Gatehouse`,
    markup`<h1>${displayText(page.title)}</h1>
<p>${displayText(page.message, 500)}</p>
${page.hint !== undefined && markup`<p>${displayText(page.hint, 500)}</p>`}
${page.continueTo && isLinkable(page.continueTo.href) && renderContinue(page.continueTo)}<dl>
<dt>Error code</dt>
<dd><span class="detail">${displayText(page.code)}</span></dd>${
      page.requestId !== undefined &&
      markup`
<dt>Request ID, if you ask for help</dt>
<dd><span class="detail">${displayText(page.requestId)}</span></dd>`
    }
</dl>`,
  );
}
