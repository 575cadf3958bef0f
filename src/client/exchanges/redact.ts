import { marker, secretHeaderPattern, secretMemberPattern, secretParameterPattern } from './secret-names.ts';

/** Takes secrets out of what goes over the wire. It learns them as they pass, and knows them again in other places. */
export interface Redaction {
  /** @param url absolute URL */
  url(url: string): string;
  /** @param headers fields as sent or received */
  headers(headers: Headers): [string, string][];
  /**
   * @param text a body: JSON, form, event stream, page
   * @param complete false where more may follow, so that a secret that is cut is not let through
   */
  body(text: string, complete: boolean): string;
}

const jsonMember = new RegExp(`("(${secretMemberPattern})"\\s*:\\s*")((?:[^"\\\\]|\\\\.)*)("?)`, 'gis');
const jsonInString = new RegExp(
  `(\\\\+"(${secretMemberPattern})\\\\+"\\s*:\\s*\\\\+")((?:(?!\\\\+").)*)(\\\\*"?)`,
  'gis',
);
const formParameter = new RegExp(`((?:^|[?&#;\\s"'])(${secretMemberPattern})=)([^&#\\s"'<>]*)`, 'gi');
const urlParameter = new RegExp(`([?&#](${secretParameterPattern})=)([^&#]*)`, 'gi');
const privateJwkMember = /("(?:d|p|q|dp|dq|qi|k)"\s*:\s*")[^"]*("?)/g;
const jwt = /\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}/g;
const cookiePair = /^([^=;]*=)([^;]*)/;

/** JSON errors have a `code` too, whose value is a word: `invalid_token`, `UNAUTHORIZED`. */
const errorWord = /^[A-Za-z]+(?:[ ._-][A-Za-z]+)*$/;

/** Shorter values are not looked for elsewhere: they would be found in innocent words. */
const minLearnedLength = 8;

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}

/**
 * A redaction with a memory of its own: one for each record of exchanges.
 * Names of OAuth, cookies, JSON Web Tokens and the private members of JSON Web Keys are taken out, and every value
 * once seen under such a name wherever else it stands (T-191, T-194).
 */
export function createRedaction(): Redaction {
  /** Secret -> what stands in its place; the longest first, so that none is cut by its own beginning. */
  let learned: (readonly [string, string])[] = [];

  const learn = (value: string, name: string): void => {
    for (const form of new Set([value, decoded(value)])) {
      if (form.length < minLearnedLength) continue;
      if (learned.some(([known]) => known === form)) continue;
      learned = [...learned, [form, marker(name)] as const].sort(([a], [b]) => b.length - a.length);
    }
  };

  const replaceLearned = (text: string, complete: boolean): string => {
    let out = text;
    for (const [value, mark] of learned) out = out.replaceAll(value, () => mark);
    if (complete) return out;
    for (const [value, mark] of learned)
      for (let length = Math.min(value.length - 1, out.length); length >= minLearnedLength; length--)
        if (out.endsWith(value.slice(0, length))) return `${out.slice(0, -length)}${mark}`;
    return out;
  };

  const replaceNamed = (text: string, pattern: RegExp): string =>
    text.replace(pattern, (whole, start: string, name: string, value: string, end?: unknown) => {
      const close = typeof end === 'string' ? end : '';
      const json = pattern === jsonMember || pattern === jsonInString;
      if (value === '' || (json && errorWord.test(value) && /^(?:code|token|secret)$/i.test(name)))
        return whole;
      if (!json || close !== '') learn(value, name);
      return `${start}${marker(name)}${close}`;
    });

  const url = (text: string): string => {
    const withoutUser = text.replace(/^([a-z]+:\/\/)[^/@?#]*@/i, `$1${marker('userinfo')}@`);
    return replaceLearned(replaceNamed(withoutUser, urlParameter).replace(jwt, marker('jwt')), true);
  };

  const header = (name: string, value: string): string => {
    if (name === 'authorization' || name === 'proxy-authorization') {
      const [scheme = '', ...rest] = value.split(' ');
      const known = { bearer: 'access_token', dpop: 'access_token', basic: 'client_credentials' };
      const called = Object.entries(known).find(([key]) => key === scheme.toLowerCase())?.[1];
      if (rest.length === 0) return marker(name);
      learn(rest.join(' '), called ?? name);
      return `${scheme} ${marker(called ?? name)}`;
    }
    if (name === 'set-cookie') return value.replace(cookiePair, `$1${marker('cookie')}`);
    if (secretHeaderPattern.test(name)) {
      learn(value, name);
      return marker(name === 'dpop' ? 'dpop_proof' : name);
    }
    return replaceLearned(replaceNamed(value, urlParameter).replace(jwt, marker('jwt')), true);
  };

  return {
    url,
    headers: (headers) => [...headers].map(([name, value]) => [name, header(name, value)]),
    body(text, complete) {
      let out = [jsonInString, jsonMember, formParameter].reduce(replaceNamed, text);
      if (out.includes('"kty"')) out = out.replace(privateJwkMember, `$1${marker('private_key')}$2`);
      return replaceLearned(out.replace(jwt, marker('jwt')), complete);
    },
  };
}
