import { createRedaction, marker, markerPattern } from '../client/exchanges/redact.ts';
import type { Finding } from './check.ts';

/** User and password of a URL within a text. */
const userinfo = /(:\/\/)[^\s/@?#"]*@/g;

/**
 * The URL under examination without the secrets that users put into it: user and password, `api_key` and its like.
 * @param url as it was given
 */
export function urlWithoutSecrets(url: string): string {
  return createRedaction().url(url);
}

/**
 * Names of the secrets that users put into the query of a URL: `api_key`.
 * @param url as it was given
 */
export function secretsInQuery(url: string): readonly string[] {
  const query = URL.parse(urlWithoutSecrets(url).replace(/#.*$/s, ''))?.searchParams.entries() ?? [];
  return [...query].flatMap(([name, value]) => (value.search(markerPattern) === -1 ? [] : [name]));
}

/**
 * The same finding with nothing in its sentences that looks like a token, a code or a key. Checks quote what servers
 * send, and servers send anything (T-191).
 * @param finding what a check came to
 * @param url under examination: the secrets in it are taken out wherever they stand
 */
export function withoutSecrets(finding: Finding, url: string): Finding {
  const redaction = createRedaction();
  redaction.url(url);
  const clean = (text: string): string =>
    redaction.body(text.replace(userinfo, `$1${marker('userinfo')}@`), true);
  const { saw, fix, hints } = finding;
  return {
    ...finding,
    saw: clean(saw),
    ...(fix === undefined ? {} : { fix: clean(fix) }),
    ...(hints === undefined
      ? {}
      : { hints: hints.map(({ product, lines }) => ({ product, lines: clean(lines) })) }),
  };
}
