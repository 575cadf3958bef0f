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
  /** Algorithms proofs may be signed with, parted by spaces. */
  algs: string;
}

/** Keeps only what RFC 6750 section 3 allows inside a quoted value, so that no value can end it early (T-102). */
function quotable(value: string): string {
  return value.replace(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, '');
}

/**
 * Writes a `Bearer` challenge.
 * @param challenge its parameters; absent ones are left out
 * @returns the value of a `WWW-Authenticate` header
 * @see RFC 6750 section 3; RFC 9728 section 5.1
 */
export function formatBearerChallenge(challenge: BearerChallenge): string {
  return formatChallenge('Bearer', { ...challenge });
}

/**
 * Writes a `DPoP` challenge: how to present a token that is bound to a key.
 * @param challenge its parameters; absent ones are left out
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

/** The other form of a challenge, `Negotiate YII=`: one value instead of parameters (RFC 9110 section 11.2). */
const token68 = /[ \t]+[A-Za-z0-9\-._~+/]+=*[ \t]*(?=,|$)/y;

/**
 * Reads `WWW-Authenticate` field values: several challenges, parameters in any order, quoted strings with escapes.
 * A token68 and what does not parse are skipped; a value without quotes ends at a space or comma. Nothing throws.
 * @param value the header, several fields joined by a comma
 * @returns the challenges in their order
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

  /** A value that is not in double quotes: in single ones, or up to the next space or comma, as the SDKs read it. */
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
 * Tells the answer to a request without a token from that to a token that will not do: it asks for one and names no error.
 * @param value `WWW-Authenticate` of a 401; null where it has none, which tells nothing
 * @see RFC 6750 section 3.1
 */
export function isForNoToken(value: string | null): boolean {
  const challenges = parseChallenges(value ?? '');
  return challenges.length > 0 && challenges.every(({ parameters }) => parameters.error === undefined);
}
