import type { AuthInfo } from '../../oauth/auth-info.ts';
import { isSuccess, parseObject, readMembers } from '../../oauth/foreign-json.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { parseScope } from '../../oauth/scope.ts';
import { readBounded } from '../jwt/issuer-keys.ts';
import { type JwtPart, keyThumbprintOf, checkJwtClaims, type JwtExpectation, type JwtFault } from '../jwt/jwt-checks.ts';
import type { WaitingVerifier } from '../token-verifier.ts';
import { createClientProof, type IntrospectionClient } from './client-authentication.ts';
import { hash } from 'node:crypto';
import { keepNewest } from '../../collections/keep-newest.ts';

/** The issuer cannot be asked, so nobody can tell whether a token is good. Nothing the caller did. */
export class IntrospectionUnavailable extends Error {
  override name = 'IntrospectionUnavailable';
  /** For Koa, which makes it the answer. */
  readonly status = 503;
  readonly expose = true;
}

/** What a verifier that asks the issuer is made of. */
export interface IntrospectionVerifierOptions {
  /** Identifier of the issuer whose tokens are taken; nobody else's. */
  issuer: string;
  /** Where it answers (`introspection_endpoint` of its metadata): https, or http on this machine. */
  introspectionUrl: string;
  /** The resource's own identifier, which `aud` has to name. */
  resource: string;
  /** As whom it is asked. */
  client: IntrospectionClient;
  /** How long an answer stands, which is how long a revoked token goes on: up to 60 seconds, 5 by default, 0 for never. */
  cacheSeconds?: number;
  /** Epoch seconds; the clock of the machine by default. */
  now?: () => number;
  /** Sends the requests; the runtime's own by default. */
  fetch?: typeof globalThis.fetch;
}

/** Longest token asked about, in characters. */
const maxLength = 8192;

/** Largest answer, in bytes. */
const maxBytes = 64 * 1024;

const timeoutMs = 2_500;

/** Most questions under way at once: more callers than that are told to come back. */
const maxConcurrent = 100;

const defaultCacheSeconds = 5;
const maxCacheSeconds = 60;

/**
 * Creates the verifier of tokens that only their issuer can read: it is asked about each (RFC 7662), with proof of who
 * asks. What it answers stands for some seconds. A token is good where the issuer calls it active and it is an access token
 * of that issuer, for this resource, with times, client and subject as they should be.
 * @returns a verifier that throws IntrospectionUnavailable where the issuer does not answer as the standard says
 * @throws TypeError for a URL that a secret must not be sent to, a key without `alg`, or a time out of bounds
 * @see RFC 7662 sections 2 and 4 (A12-11, T-096, T-097, T-100)
 */
export function createIntrospectionVerifier(options: IntrospectionVerifierOptions): WaitingVerifier {
  const { issuer, resource, client, fetch = globalThis.fetch } = options;
  const { now = () => Math.floor(Date.now() / 1000), cacheSeconds = defaultCacheSeconds } = options;
  const url = requireSafeUrl(options.introspectionUrl);
  if (!(cacheSeconds >= 0 && cacheSeconds <= maxCacheSeconds))
    throw new TypeError(`cacheSeconds: must be a number of seconds from 0 to ${maxCacheSeconds}`);
  if (client.privateKey !== undefined && client.privateKey.alg === undefined)
    throw new TypeError('client.privateKey: needs alg, the algorithm it signs with');
  const prove = createClientProof(client, issuer, now);
  const cache = createAnswerCache({ keepSeconds: cacheSeconds, now });
  let underWay = 0;

  const send = async (token: string): Promise<JwtPart> => {
    const { headers, fields } = await prove();
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token', ...fields }).toString(),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await readBounded(response, maxBytes);
    if (!isSuccess(response.status))
      throw new Error(`the introspection endpoint answered with ${response.status}`);
    const answer = readMembers(parseObject(text) ?? {});
    if (typeof answer.active !== 'boolean')
      throw new Error('the introspection endpoint did not say whether the token is active');
    return answer as JwtPart;
  };

  const ask = async (token: string): Promise<AuthInfo | undefined> => {
    if (underWay >= maxConcurrent) throw unavailable(new Error('too many tokens are being asked about'));
    underWay += 1;
    const answer = await send(token)
      .catch((cause: unknown) => {
        throw unavailable(cause);
      })
      .finally(() => {
        underWay -= 1;
      });
    if (answer.active !== true) return undefined;
    const fault = checkIntrospection(answer, { issuer, resource, nowSeconds: now() });
    return fault === undefined ? describeCaller(answer, issuer, resource) : undefined;
  };

  return {
    verify: async (token) => (token.length > maxLength ? undefined : cache.find(token, () => ask(token))),
  };
}

/** A secret and a token go to this URL. @throws TypeError */
function requireSafeUrl(text: string): URL {
  const url = URL.parse(text);
  const isLoopback = url !== null && isLoopbackHost(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return url;
  throw new TypeError('introspectionUrl: must be an https URL');
}

function unavailable(cause: unknown): IntrospectionUnavailable {
  return new IntrospectionUnavailable(
    'The issuer of the token cannot be asked at the moment. Try again later.',
    {
      cause,
    },
  );
}

function describeCaller(answer: JwtPart, issuer: string, resource: string): AuthInfo {
  const keyThumbprint = keyThumbprintOf(answer.cnf);
  return Object.freeze({
    issuer,
    subject: String(answer.sub),
    clientId: String(answer.client_id),
    scopes: Object.freeze(parseScope(answer.scope as string | undefined)),
    audience: resource,
    expiresAt: Number(answer.exp),
    ...(keyThumbprint === undefined ? {} : { keyThumbprint }),
  });
}

/** What was learned of a token: who calls with it, or that it is not good. */
export type Learned = AuthInfo | undefined;

/** What is remembered of tokens for a while. */
export interface AnswerCache {
  /** Gives what is known of a token, and asks where nothing is; once for all who want to know at the same time. */
  find(token: string, ask: () => Promise<Learned>): Promise<Learned>;
}

/** Most good, and most bad tokens that are remembered: a flood of bad ones drives out no good one. */
const maxKept = 10_000;

/** Bounds of what is remembered. */
export interface AnswerCacheOptions {
  /** How long an answer stands, never beyond the end of its token; 0 for no longer than it takes to give it. */
  keepSeconds: number;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the memory of what an issuer said of tokens. It knows tokens by their hashes; a failure is not remembered.
 * @see RFC 7662 section 4 (the time an answer is kept is the time a revoked token goes on)
 */
export function createAnswerCache({ keepSeconds, now }: AnswerCacheOptions): AnswerCache {
  const good = new Map<string, { learned: Learned; until: number }>();
  const bad = new Map<string, { learned: Learned; until: number }>();
  const underWay = new Map<string, Promise<Learned>>();

  const keep = (name: string, learned: Learned): void => {
    const kept = learned ? good : bad;
    const until = Math.min(now() + keepSeconds, learned?.expiresAt ?? Number.POSITIVE_INFINITY);
    if (until > now()) keepNewest(kept, name, { learned, until }, maxKept);
    else kept.delete(name);
  };

  return {
    async find(token, ask) {
      const name = hash('sha256', token, 'base64url');
      const known = good.get(name) ?? bad.get(name);
      if (known && known.until > now()) return known.learned;
      const running = underWay.get(name);
      if (running) return running;
      const asked = ask()
        .then((learned) => {
          good.delete(name);
          keep(name, learned);
          return learned;
        })
        .finally(() => underWay.delete(name));
      underWay.set(name, asked);
      return asked;
    },
  };
}

/** Why what is active is not an access token for us. */
export type IntrospectionFault = JwtFault | 'other_issuer' | 'no_access_token' | 'binding_without_key';

/** What an active token has to be. */
export interface IntrospectionExpectation extends JwtExpectation {
  issuer: string;
}

type IntrospectionCheck = (
  answer: JwtPart,
  expected: IntrospectionExpectation,
) => IntrospectionFault | undefined;

const checks: readonly IntrospectionCheck[] = [
  ({ iss }, { issuer }) => (iss === undefined || iss === issuer ? undefined : 'other_issuer'),
  // Some servers tell of refresh tokens as well, and by this which is which.
  ({ token_use }) =>
    token_use === undefined || token_use === 'access_token' ? undefined : 'no_access_token',
  ({ token_type }) =>
    typeof token_type === 'string' && /^(bearer|dpop)$/i.test(token_type) ? undefined : 'no_access_token',
  ({ token_type, cnf }) =>
    /^dpop$/i.test(String(token_type)) && cnf === undefined ? 'binding_without_key' : undefined,
];

/**
 * Checks what an issuer says of a token it calls active, in this order: issuer, kind of token, then as the claims of a
 * JWT; only `iat` and `jti`, which RFC 7662 leaves to the server, may be missing. An answer without `iss` is of the issuer
 * that was asked.
 * @returns the first fault
 * @see RFC 7662 sections 2.2 and 4; RFC 9449 section 6.2 (A12-11, T-096, T-100)
 */
export function checkIntrospection(
  answer: JwtPart,
  expected: IntrospectionExpectation,
): IntrospectionFault | undefined {
  for (const check of checks) {
    const fault = check(answer, expected);
    if (fault) return fault;
  }
  return checkJwtClaims({ iat: expected.nowSeconds, jti: 'none', ...answer }, expected);
}
