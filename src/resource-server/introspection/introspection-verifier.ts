import { hash, randomUUID } from 'node:crypto';
import { importJWK, type JWK, SignJWT } from 'jose';
import { setBounded } from '../../collections/caches.ts';
import { type AuthInfo, readLogin } from '../../oauth/auth-info.ts';
import { isSuccess, parseObject, readMembers } from '../../oauth/foreign-json.ts';
import { basicAuthorization } from '../../oauth/headers.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { parseScope } from '../../oauth/scope.ts';
import { readBounded } from '../jwt/issuer-keys.ts';
import {
  checkJwtClaims,
  type JwtExpectation,
  type JwtFault,
  type JwtPart,
  keyThumbprintOf,
} from '../jwt/jwt-checks.ts';
import type { TokenVerifier } from '../token-verifier.ts';

/** The issuer is unavailable, so the token cannot be verified. Not the caller's fault. */
export class IntrospectionUnavailable extends Error {
  override name = 'IntrospectionUnavailable';
  /** Koa sends it as the response status. */
  readonly status = 503;
  readonly expose = true;
}

/** Options of {@link createIntrospectionVerifier}. */
export interface IntrospectionVerifierOptions {
  /** Identifier of the only accepted issuer. */
  issuer: string;
  /** URL of its `introspection_endpoint`: https, or http on this machine. */
  introspectionUrl: string;
  /** Resource identifier that `aud` has to contain. */
  resource: string;
  /** Client credentials for the introspection requests. */
  client: IntrospectionClient;
  /**
   * Cache time of a response, in seconds, during which a revoked token is still accepted: up to 60, 5 by default, 0 for
   * no cache.
   */
  cacheSeconds?: number;
  /** Returns epoch seconds; default is the system clock. */
  now?: () => number;
  /** Sends the requests; default is the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** Maximum length of a token, in characters. */
const maxLength = 8192;

/** Maximum size of a response, in bytes. */
const maxBytes = 64 * 1024;

const timeoutMs = 2_500;

/** Maximum concurrent introspection requests; further callers are asked to retry. */
const maxConcurrent = 100;

const defaultCacheSeconds = 5;
const maxCacheSeconds = 60;

/**
 * Creates a verifier that asks the issuer about each token by introspection (RFC 7662), with client authentication, and
 * caches responses for some seconds. A token is valid if the issuer calls it active and it is an access token of this
 * issuer for this resource, with valid times, client and subject.
 * @returns a verifier that throws IntrospectionUnavailable if the issuer does not respond as the standard says
 * @throws TypeError for a URL to which no secret may be sent, a key without `alg`, or a cache time out of bounds
 * @see RFC 7662 sections 2 and 4 (A12-11, T-096, T-097, T-100)
 */
export function createIntrospectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier {
  const { issuer, resource, client, fetch = globalThis.fetch } = options;
  const { now = () => Math.floor(Date.now() / 1000), cacheSeconds = defaultCacheSeconds } = options;
  const url = requireSafeUrl(options.introspectionUrl);
  if (!(cacheSeconds >= 0 && cacheSeconds <= maxCacheSeconds))
    throw new TypeError(`cacheSeconds: must be a number of seconds from 0 to ${maxCacheSeconds}`);
  if (client.privateKey !== undefined && client.privateKey.alg === undefined)
    throw new TypeError('client.privateKey: needs alg, the algorithm it signs with');
  const prove = createClientProof(client, issuer, now);
  const cache = createIntrospectionCache({ keepSeconds: cacheSeconds, now });
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

/**
 * A secret and a token are sent to this URL.
 * @throws TypeError
 */
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
    ...readLogin(answer),
  });
}

/** The caller of a token; undefined if the token is invalid. */
export type Learned = AuthInfo | undefined;

/** Cached introspection results. */
export interface IntrospectionCache {
  /** Returns the cached result for a token, or calls `ask` once for all concurrent callers. */
  find(token: string, ask: () => Promise<Learned>): Promise<Learned>;
}

/** Maximum number of cached valid tokens, and of invalid ones: a flood of invalid tokens evicts no valid one. */
const maxKept = 10_000;

/** Options of {@link createIntrospectionCache}. */
export interface IntrospectionCacheOptions {
  /** Cache time, limited by the expiry of the token; 0 only shares concurrent requests. */
  keepSeconds: number;
  /** Returns epoch seconds. */
  now: () => number;
}

/**
 * Creates the cache of introspection results, keyed by token hash; failures are not cached.
 * @see RFC 7662 section 4 (a revoked token is accepted for the cache time)
 */
export function createIntrospectionCache({
  keepSeconds,
  now,
}: IntrospectionCacheOptions): IntrospectionCache {
  const good = new Map<string, { learned: Learned; until: number }>();
  const bad = new Map<string, { learned: Learned; until: number }>();
  const underWay = new Map<string, Promise<Learned>>();

  const keep = (name: string, learned: Learned): void => {
    const kept = learned ? good : bad;
    const until = Math.min(now() + keepSeconds, learned?.expiresAt ?? Number.POSITIVE_INFINITY);
    if (until > now()) setBounded(kept, name, { learned, until }, maxKept);
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

/** Reasons why an active token is no access token for this resource. */
export type IntrospectionFault = JwtFault | 'other_issuer' | 'no_access_token' | 'binding_without_key';

/** Expected properties of an active token. */
export interface IntrospectionExpectation extends JwtExpectation {
  issuer: string;
}

type IntrospectionCheck = (
  answer: JwtPart,
  expected: IntrospectionExpectation,
) => IntrospectionFault | undefined;

const checks: readonly IntrospectionCheck[] = [
  ({ iss }, { issuer }) => (iss === undefined || iss === issuer ? undefined : 'other_issuer'),
  // Some servers introspect refresh tokens, too; `token_use` distinguishes them.
  ({ token_use }) =>
    token_use === undefined || token_use === 'access_token' ? undefined : 'no_access_token',
  ({ token_type }) =>
    typeof token_type === 'string' && /^(bearer|dpop)$/i.test(token_type) ? undefined : 'no_access_token',
  ({ token_type, cnf }) =>
    /^dpop$/i.test(String(token_type)) && cnf === undefined ? 'binding_without_key' : undefined,
];

/**
 * Verifies an active introspection response, in this order: issuer, kind of token, then the claims as for a JWT; only
 * `iat` and `jti`, which RFC 7662 makes optional, may be missing. A response without `iss` is of the issuer that was
 * asked.
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

/** Identity and credential of a resource server at the authorization server. */
export type IntrospectionClient = { clientId: string } & (
  | {
      /** Sent by `client_secret_basic`. */
      clientSecret: string;
      privateKey?: never;
    }
  | {
      /** Signs an assertion for each request (`private_key_jwt`); `alg` says how, `kid` which key it is. */
      privateKey: JWK & { alg: string };
      clientSecret?: never;
    }
);

/** Client authentication sent with the token. */
export interface ClientProof {
  headers: Record<string, string>;
  fields: Record<string, string>;
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Lifetime of an assertion, in seconds. */
const assertionSeconds = 60;

/**
 * Creates a function that returns fresh client authentication for each request.
 * @param issuer the authorization server, the only audience of an assertion
 * @param now epoch seconds
 * @see RFC 6749 section 2.3.1; RFC 7523 sections 2.2 and 3
 */
export function createClientProof(
  client: IntrospectionClient,
  issuer: string,
  now: () => number,
): () => Promise<ClientProof> {
  const { clientId, clientSecret, privateKey } = client;
  if (clientSecret !== undefined) {
    const headers = { authorization: basicAuthorization(clientId, clientSecret) };
    return async () => ({ headers, fields: {} });
  }
  const { alg, kid } = privateKey;
  return async () => {
    const assertion = await new SignJWT()
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(issuer)
      .setJti(randomUUID())
      .setIssuedAt(now())
      .setExpirationTime(now() + assertionSeconds)
      .sign(await importJWK(privateKey, alg));
    return { headers: {}, fields: { client_assertion_type: assertionType, client_assertion: assertion } };
  };
}
