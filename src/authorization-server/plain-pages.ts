import { contentSecurityPolicy, pageHeaders } from './views/content-security-policy.ts';
import { renderError } from './views/error.ts';
import { type HomePage, renderHome } from './views/home.ts';

/** A failure outside of any login, as a person is told about it. */
export interface Failure {
  status: number;
  /** The failure's name on the wire. */
  code: string;
  requestId: string;
}

const withHeaders = (html: string) => ({
  headers: { ...pageHeaders, 'Content-Security-Policy': contentSecurityPolicy() },
  html,
});

/** Builds the page for the public URL itself, with its headers. @param page what it shows */
export function buildHomePage(page: HomePage) {
  return withHeaders(renderHome(page));
}

/** Builds the page for a failure of the server, with its headers. Tells no cause (T-196). */
export function buildFailurePage({ status, code, requestId }: Failure) {
  const words =
    status === 503
      ? {
          title: 'Please try again in a moment',
          message: 'The server cannot store anything right now, so nothing was done.',
          hint: 'Wait a few seconds and load the page again.',
        }
      : {
          title: 'Something went wrong here',
          message: 'The server failed. Its log has the reason.',
          hint: 'Please begin again from the app. If that does not help, tell whoever runs this server.',
        };
  return withHeaders(renderError({ ...words, code, requestId }));
}
