import { createRedaction, marker, markerPattern } from '../client/building-blocks.ts';
import type { Finding } from './check.ts';

/** User and password of a URL in a text. */
const userinfo = /(:\/\/)[^\s/@?#"]*@/g;

/** Returns a URL without user, password and secret parameters such as `api_key`. */
export function urlWithoutSecrets(url: string): string {
  return createRedaction().url(url);
}

/** Returns the names of secret parameters in the query of a URL, such as `api_key`. */
export function secretsInQuery(url: string): readonly string[] {
  const query = URL.parse(urlWithoutSecrets(url).replace(/#.*$/s, ''))?.searchParams.entries() ?? [];
  return [...query].flatMap(([name, value]) => (value.search(markerPattern) === -1 ? [] : [name]));
}

/**
 * Removes everything from a finding that looks like a token, a code or a key: checks quote servers, which may send
 * anything (T-191).
 * @param url examined URL, whose secrets are removed everywhere
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
