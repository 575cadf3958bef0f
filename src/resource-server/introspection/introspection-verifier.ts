import type { AuthInfo } from '../../oauth/auth-info.ts';
import { isSuccess, parseObject, readMembers } from '../../oauth/foreign-json.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { parseScope } from '../../oauth/scope.ts';
import { readBounded } from '../bounded-body.ts';
import { type JwtPart, keyThumbprintOf } from '../jwt/jwt-checks.ts';
import type { TokenVerifier } from '../token-verifier.ts';
import { createAnswerCache } from './answer-cache.ts';
import { createClientProof, type IntrospectionClient } from './client-authentication.ts';
import { checkIntrospection } from './introspection-checks.ts';

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
export function createIntrospectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier {
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
