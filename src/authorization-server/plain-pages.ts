import { chooseTexts } from './texts/texts.ts';
import { contentSecurityPolicy, pageHeaders } from './views/content-security-policy.ts';
import { renderError } from './views/error.ts';
import { type HomePage, renderHome } from './views/home.ts';

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
