/** Removes secrets from recorded HTTP messages. Secrets seen once are also removed from later messages. */
export interface Redaction {
  /** @param url absolute URL */
  url(url: string): string;
  /** @param headers fields as sent or received */
  headers(headers: Headers): [string, string][];
  /**
   * @param text a body: JSON, form, event stream, page
   * @param complete false if more may follow: a secret that is cut off at the end is then removed, too
   */
  body(text: string, complete: boolean): string;
}

/** Names of secrets in forms, queries and JSON documents, as OAuth, OpenID Connect and SDKs spell them. */
const secretMembers = [
  'access_token',
  'refresh_token',
  'id_token',
  'id_token_hint',
  'registration_access_token',
  'initial_access_token',
  'subject_token',
  'actor_token',
  'token',
  'code',
  'code_verifier',
  'device_code',
  'user_code',
  'client_secret',
  'client_assertion',
  'assertion',
  'password',
  'secret',
  'api_key',
] as const;

/** Names of secrets in URLs only; elsewhere they are everyday words. */
const secretInUrls = ['key', 'sig', 'signature'] as const;

/** Converts a name to snake case, however it is written: `accessToken`, `ACCESS_TOKEN`, `x-api-key`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}

/** Returns a regular expression of the names, camel case included. */
function alternatives(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('_', '[_-]?')).join('|');
}

/** Regular expression alternatives for JSON members and form parameters with a secret. */
export const secretMemberPattern = alternatives(secretMembers);

/** Regular expression alternatives for URL parameters with a secret. */
const secretParameterPattern = alternatives([...secretMembers, ...secretInUrls]);

/** Header fields with a secret, apart from those with a rule of their own. */
export const secretHeaderPattern =
  /^(?:proxy-authorization|cookie|dpop|mcp-session-id|.*(?:api-?key|token|secret|password|signature).*)$/i;

/**
 * Returns the replacement of a secret: its name in angle brackets, which no serialized URL contains.
 * @param name the name of the secret on the wire
 */
export function marker(name: string): string {
  return `<secret:${snakeCase(name)}>`;
}

/** Matches the result of {@link marker}. */
export const markerPattern = /<secret:([a-z][a-z0-9_]*)>/g;

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

/** JSON errors also have a `code`, whose value is a word: `invalid_token`, `UNAUTHORIZED`. */
const errorWord = /^[A-Za-z]+(?:[ ._-][A-Za-z]+)*$/;

/** Minimum length of a value that is searched for elsewhere: shorter ones occur in innocent words. */
const minLearnedLength = 8;

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}

/**
 * Creates a redaction for one record of exchanges. It removes OAuth secrets by name, cookies, JSON Web Tokens
 * and the private members of JSON Web Keys. A value once seen under a secret's name is removed everywhere
 * (T-191, T-194).
 */
export function createRedaction(): Redaction {
  /** Replacements by secret; the longest first, so that no secret is replaced only in part. */
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
