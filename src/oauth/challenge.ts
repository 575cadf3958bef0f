/** One challenge of a `WWW-Authenticate` header (RFC 9110 section 11.6.1). */
export interface Challenge {
  /** Lower-case scheme. */
  scheme: string;
  /** Parameters, names in lower case. */
  parameters: Record<string, string>;
}

/** Parameters of a `Bearer` challenge (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface BearerChallenge {
  error?:
    | 'invalid_request'
    | 'invalid_token'
    | 'insufficient_scope'
    | 'invalid_dpop_proof'
    | 'use_dpop_nonce';
  error_description?: string;
  scope?: string;
  resource_metadata?: string;
}

/** Parameters of a `DPoP` challenge (RFC 9449 section 7.1). */
export interface DpopChallenge extends BearerChallenge {
  /** Accepted signature algorithms of proofs, separated by spaces. */
  algs: string;
}

/**
 * Keeps only the characters that RFC 6750 section 3 allows in a quoted value, so that no value can end it early
 * (T-102).
 */
function quotable(value: string): string {
  return value.replace(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, '');
}

/**
 * Formats a `Bearer` challenge.
 * @param challenge its parameters; absent ones are omitted
 * @returns the value of a `WWW-Authenticate` header
 * @see RFC 6750 section 3; RFC 9728 section 5.1
 */
export function formatBearerChallenge(challenge: BearerChallenge): string {
  return formatChallenge('Bearer', { ...challenge });
}

/**
 * Formats a `DPoP` challenge, which asks for a token bound to a key.
 * @param challenge its parameters; absent ones are omitted
 * @returns the value of a `WWW-Authenticate` header
 * @see RFC 9449 sections 7.1 and 9
 */
export function formatDpopChallenge(challenge: DpopChallenge): string {
  return formatChallenge('DPoP', { ...challenge });
}

const parameterOrder = ['error', 'error_description', 'scope', 'resource_metadata', 'algs'] as const;

function formatChallenge(scheme: string, values: Partial<DpopChallenge>): string {
  const parameters = parameterOrder
    .filter((name) => values[name] !== undefined)
    .map((name) => `${name}="${quotable(values[name] ?? '')}"`);
  return parameters.length === 0 ? scheme : `${scheme} ${parameters.join(', ')}`;
}

const tchar = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;

/** The other form of a challenge, `Negotiate YII=`: a single value instead of parameters (RFC 9110 section 11.2). */
const token68 = /[ \t]+[A-Za-z0-9\-._~+/]+=*[ \t]*(?=,|$)/y;

/**
 * Parses `WWW-Authenticate` field values: several challenges, parameters in any order, quoted strings with escapes. A
 * token68 and malformed parts are skipped; a value without quotes ends at a space or comma. It never throws.
 * @param value the header, several fields joined by a comma
 * @returns the challenges, in order
 * @see RFC 9110 section 11.6.1 (A3-06)
 */
export function parseChallenges(value: string): Challenge[] {
  const challenges: Challenge[] = [];
  let at = 0;
  const skip = (characters: string): void => {
    while (at < value.length && characters.includes(value.charAt(at))) at++;
  };
  const token = (): string => {
    const start = at;
    while (at < value.length && tchar.test(value.charAt(at))) at++;
    return value.slice(start, at);
  };
  const quoted = (): string => {
    let text = '';
    at++;
    while (at < value.length && value.charAt(at) !== '"') {
      if (value.charAt(at) === '\\') at++;
      text += value.charAt(at++);
    }
    at++;
    return text;
  };

  /** A value without double quotes: in single quotes, or up to the next space or comma, as the SDKs read it. */
  const bare = (): string => {
    const end = value.charAt(at) === "'" ? value.indexOf("'", at + 1) : -1;
    if (end > 0) {
      const inside = value.slice(at + 1, end);
      at = end + 1;
      return inside;
    }
    const start = at;
    while (at < value.length && !/[\s,]/.test(value.charAt(at))) at++;
    return value.slice(start, at).replace(/;$/, '');
  };

  while (at < value.length) {
    skip(' \t,');
    const word = token();
    if (word === '') {
      at++;
      continue;
    }
    const afterWord = at;
    skip(' \t');
    const current = challenges.at(-1);
    if (value.charAt(at) === '=' && current) {
      at++;
      skip(' \t');
      const name = word.toLowerCase();
      const content = value.charAt(at) === '"' ? quoted() : bare();
      if (!Object.hasOwn(current.parameters, name)) current.parameters[name] = content;
      continue;
    }
    token68.lastIndex = afterWord;
    at = token68.test(value) ? token68.lastIndex : afterWord;
    challenges.push({
      scheme: word.toLowerCase(),
      parameters: Object.create(null) as Record<string, string>,
    });
  }
  return challenges;
}

/**
 * Returns whether a challenge responds to a request without a token, and not to an invalid token: it names no error.
 * @param value `WWW-Authenticate` of a 401; null, which means false, if there is none
 * @see RFC 6750 section 3.1
 */
export function isForNoToken(value: string | null): boolean {
  const challenges = parseChallenges(value ?? '');
  return challenges.length > 0 && challenges.every(({ parameters }) => parameters.error === undefined);
}

/** Authentication scheme of a token: bearer (RFC 6750), or with a proof of possession (RFC 9449). */
export type TokenScheme = 'Bearer' | 'DPoP';

/** The access token of an `Authorization` header, or the reason why there is none. */
export type BearerCredentials =
  | { kind: 'none' }
  | { kind: 'token'; scheme: TokenScheme; token: string }
  | { kind: 'malformed'; scheme: TokenScheme; reason: MalformedReason };

/** Reasons why the credentials are malformed. */
export type MalformedReason = 'two_headers' | 'empty' | 'illegal_character' | 'too_long';

/** Maximum length of a token, in characters; longer ones are malformed. */
export const maxBearerLength = 8192;

const b64token = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Parses the access token of a request and its scheme. Another scheme counts as no credentials: the response names the
 * scheme to use, and not an invalid token.
 * @param headers every `Authorization` header field of the request, in order
 * @see RFC 6750 section 2.1; RFC 9449 section 7.1; RFC 9110 section 11.6.2
 */
export function parseBearer(headers: readonly string[]): BearerCredentials {
  if (headers.length > 1) return { kind: 'malformed', scheme: 'Bearer', reason: 'two_headers' };
  const header = headers[0];
  if (header === undefined) return { kind: 'none' };
  const match = /^(bearer|dpop)(?:[ \t]+(.*))?$/i.exec(header.trim());
  if (!match) return { kind: 'none' };
  const scheme = match[1]?.length === 4 ? 'DPoP' : 'Bearer';
  const refuse = (reason: MalformedReason): BearerCredentials => ({ kind: 'malformed', scheme, reason });
  const token = (match[2] ?? '').trim();
  if (token === '') return refuse('empty');
  if (token.length > maxBearerLength) return refuse('too_long');
  if (!b64token.test(token)) return refuse('illegal_character');
  return { kind: 'token', scheme, token };
}

/** A deviation of a `WWW-Authenticate` field from the grammar. */
export interface GrammarFault {
  /** Position from 1. */
  position: number;
  /** The fault, a sentence without its full stop. */
  what: string;
}

const strictToken68 = /^[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/;

/**
 * Checks a `WWW-Authenticate` field strictly against the grammar, to report faults that lenient clients accept.
 * @param value the fields, joined by a comma
 * @returns the first fault; undefined if there is none
 * @see RFC 9110 section 11.6.1
 */
export function findGrammarFault(value: string): GrammarFault | undefined {
  let at = 0;
  const rest = (): string => value.slice(at);
  const space = (): number => {
    const length = /^[ \t]*/.exec(rest())?.[0].length ?? 0;
    at += length;
    return length;
  };
  const token = (): string => {
    const start = at;
    while (at < value.length && tchar.test(value.charAt(at))) at++;
    return value.slice(start, at);
  };
  const fault = (what: string, position = at): GrammarFault => ({ position: position + 1, what });

  /** Reads a parameter's value; returns undefined if it is valid. */
  const parameterValue = (name: string): GrammarFault | undefined => {
    const start = at;
    if (value.charAt(at) !== '"') {
      if (value.charAt(at) === "'") return fault(`the value of ${name} is in single quotes`);
      if (token() === '') return fault(`the value of ${name} is missing`);
      return /^[ \t]*(?:,|$)/.test(rest())
        ? undefined
        : fault(`the value of ${name} has a ${JSON.stringify(value.charAt(at))} and is not in quotes`, at);
    }
    at++;
    while (at < value.length && value.charAt(at) !== '"') at += value.charAt(at) === '\\' ? 2 : 1;
    if (at >= value.length) return fault(`the quotes of ${name} do not end`, start);
    at++;
    return undefined;
  };

  /** True if a scheme begins here, false for another parameter. */
  let hasScheme = false;
  let needsComma = false;
  while (space() >= 0 && at < value.length) {
    if (value.charAt(at) === ',') {
      needsComma = false;
      at++;
      continue;
    }
    if (needsComma) return fault('a comma is missing');
    const start = at;
    const word = token();
    if (word === '') return fault(`${JSON.stringify(value.charAt(at))} stands where a name is expected`);
    const equals = /^[ \t]*=/.exec(rest());
    if (equals) {
      if (!hasScheme) return fault(`the parameter ${word} comes before any scheme`, start);
      at += equals[0].length;
      space();
      const found = parameterValue(word);
      if (found) return found;
      needsComma = true;
      continue;
    }
    hasScheme = true;
    const spaces = space();
    const opaque = strictToken68.exec(rest());
    if (spaces > 0 && opaque) {
      at += opaque[0].length;
      needsComma = true;
    } else needsComma = at < value.length && value.charAt(at) !== ',' && spaces === 0;
  }
  return undefined;
}
