import { setTimeout as sleep } from 'node:timers/promises';
import { accountMark } from '../../crypto/secret.ts';
import { FetchRefused } from '../../net/fetch-refused.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { CallerToken } from '../links/link-status.ts';
import type { Upstream, Upstreams } from '../upstream.ts';
import type { CallerTokens } from './caller-tokens.ts';

/**
 * Sends one request to an API, without following redirects.
 * @throws FetchRefused
 */
export type ApiFetch = (
  url: URL,
  request: ApiRequest & { signal: AbortSignal | undefined },
) => Promise<Response>;

/** Options of {@link createCallerApi}. */
export interface CallerApiOptions {
  upstreams: Upstreams;
  tokens: CallerTokens;
  /** Returns the fetch for the API of an upstream. */
  fetchOf(upstream: Upstream): ApiFetch;
  /** True allows APIs on this machine, without https. */
  dangerouslyFromLoopback: boolean;
  /** URL of the account pages, without a slash at its end. */
  accountUrl: string;
}

/** A request of a tool, on behalf of its caller. */
export interface ApiCall {
  caller: AuthInfo;
  /** Name of the upstream. */
  upstream: string;
  url: string | URL;
  init: RequestInit;
  /** Scopes that the token needs. */
  scopes: readonly string[];
  /** Maximum wait for a person who is linking their account, in milliseconds. */
  patienceMs: number;
  signal?: AbortSignal | undefined;
}

/** The missing link or scopes of a person, and the page to add them. */
export interface MissingAtUpstream {
  missing: 'link' | 'scopes';
  upstream: string;
  label: string;
  /** The page to add them. */
  url: string;
  accountId: string;
  scopes: readonly string[];
}

/** Calls APIs of upstreams on behalf of the callers of tools. */
export interface CallerApi {
  /**
   * Returns the response of the API, or what is missing.
   * @throws ApiRefusal
   */
  call(call: ApiCall): Promise<Response | MissingAtUpstream>;
  /** Checks if the person has added what was missing. */
  isGiven(missing: MissingAtUpstream): Promise<boolean>;
}

/** Interval of checks for a new link, in milliseconds. */
const lookEveryMs = 500;

/** Maximum number of redirects. */
const maxRedirects = 5;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Creates the calls to APIs. The caller's token is sent with the request only: not to another host, an error
 * or a log (T-093).
 */
export function createCallerApi(options: CallerApiOptions): CallerApi {
  const { upstreams, tokens, fetchOf, dangerouslyFromLoopback, accountUrl } = options;
  const fetches = new Map(upstreams.all.map((upstream) => [upstream.name, fetchOf(upstream)]));

  const unavailable = ({ label }: Upstream): ApiRefusal =>
    new ApiRefusal('upstream_unavailable', `${label} does not answer just now. Try again in a minute.`);

  function require(name: string, { subject, clientId }: AuthInfo): Upstream {
    const upstream = upstreams.find(name);
    if (!upstream) {
      const names = upstreams.all.map((known) => known.name).join(', ');
      throw new ApiRefusal(
        'upstream_unknown',
        `The tool asks for an upstream that is not in the settings. There are: ${names}.`,
      );
    }
    if (subject === clientId)
      throw new ApiRefusal(
        'no_person',
        `This client acts for itself and not for a person, so it has no account at ${upstream.label}.`,
      );
    return upstream;
  }

  /** Returns the token of a caller. If their person is linking the account, it waits for that. */
  async function tokenOf(
    { caller: { subject }, upstream, scopes, patienceMs, signal }: ApiCall,
    after?: CallerToken,
  ): Promise<Awaited<ReturnType<CallerTokens['token']>>> {
    const wishes = { scopes, ...(after && { after: after.generation }) };
    const endsMs = performance.now() + patienceMs;
    const found = await tokens.token(subject, upstream, wishes);
    if (found !== 'needs_link' && found !== 'needs_scopes') return found;
    while (performance.now() < endsMs && !signal?.aborted) {
      await sleep(lookEveryMs, undefined, signal ? { signal } : {}).catch(() => undefined);
      if (await tokens.holds(subject, upstream, scopes)) return tokens.token(subject, upstream, wishes);
    }
    return found;
  }

  /** Sends the request with a token, and follows redirects within the host. */
  async function send(
    upstream: Upstream,
    url: URL,
    request: ApiRequest,
    { accessToken }: CallerToken,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const fetch = fetches.get(upstream.name) as ApiFetch;
    const headers = new Headers(request.headers);
    headers.set('authorization', `Bearer ${accessToken}`);
    let at = url;
    for (let followed = 0; ; followed++) {
      const answer = await fetch(at, { ...request, headers, signal });
      const location = answer.headers.get('location');
      const next = location === null ? null : URL.parse(location, at.href);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (!redirects.has(answer.status) || !isRead || next?.origin !== at.origin || followed === maxRedirects)
        return answer;
      at = next;
    }
  }

  async function sendAsCaller(
    upstream: Upstream,
    call: ApiCall,
    url: URL,
    request: ApiRequest,
  ): Promise<Response | Exclude<Awaited<ReturnType<typeof tokenOf>>, CallerToken>> {
    const first = await tokenOf(call);
    if (typeof first === 'string') return first;
    const answer = await send(upstream, url, request, first, call.signal);
    if (answer.status !== 401) return answer;
    const second = await tokenOf(call, first);
    if (typeof second === 'string') return second;
    const again =
      second.generation === first.generation
        ? answer
        : await send(upstream, url, request, second, call.signal);
    if (again.status !== 401) return again;
    throw new ApiRefusal(
      'token_refused',
      `The API at ${url.host} does not accept what ${upstream.label} has given for this account. Link it again: ${linkUrl(upstream, call.caller.subject)}`,
    );
  }

  /**
   * Returns the URL of the page to link an account to an upstream; another account that opens it gets an explanation
   * (C7-04).
   */
  const linkUrl = ({ name }: Upstream, accountId: string): string =>
    `${accountUrl}/upstreams/${name}/link/${accountMark(accountId)}`;

  return {
    async call(call) {
      const { caller, scopes, signal: ofCall, init } = call;
      const upstream = require(call.upstream, caller);
      const { name, label, settings } = upstream;
      const url = readApiAddress(call.url, { name, apiHosts: settings.apiHosts, dangerouslyFromLoopback });
      const request = await readApiRequest(init);
      const signals = [ofCall, init.signal].filter((signal) => signal instanceof AbortSignal);
      const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
      const answer = await sendAsCaller(upstream, { ...call, signal }, url, request).catch(
        (error: unknown) => {
          signal?.throwIfAborted();
          if (!(error instanceof FetchRefused)) throw error;
          const message = `The API at ${url.host} could not be called: ${error.message}.`;
          throw new ApiRefusal('api_unreachable', message, { cause: error });
        },
      );
      if (answer === 'unavailable') throw unavailable(upstream);
      if (typeof answer !== 'string') return answer;
      return {
        missing: answer === 'needs_link' ? 'link' : 'scopes',
        upstream: name,
        label,
        url: linkUrl(upstream, caller.subject),
        accountId: caller.subject,
        scopes,
      };
    },
    isGiven: ({ accountId, upstream, scopes }) => tokens.holds(accountId, upstream, scopes),
  };
}

/** The addresses that tools may call with the tokens of an upstream. */
export interface ApiAddresses {
  /** Name of the upstream in the settings. */
  name: string;
  /** Hosts, with the port if it is not 443. */
  apiHosts: readonly string[];
  /** True allows such a host to be this machine, without https. */
  dangerouslyFromLoopback: boolean;
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Parses the address of a tool's request.
 * @throws ApiRefusal unless it is https on one of the hosts; on this machine http is accepted if that is
 *   allowed
 */
export function readApiAddress(given: string | URL, addresses: ApiAddresses): URL {
  const { name, apiHosts, dangerouslyFromLoopback } = addresses;
  const url = URL.parse(String(given));
  if (!url) throw new ApiRefusal('url_not_allowed', 'The tool calls something that is no absolute URL.');
  const isPlain = url.protocol === 'http:' && dangerouslyFromLoopback && loopback.test(url.hostname);
  if (url.protocol !== 'https:' && !isPlain)
    throw new ApiRefusal('url_not_allowed', 'The tool calls a URL that is not https.');
  if (url.username !== '' || url.password !== '')
    throw new ApiRefusal('url_not_allowed', 'The tool calls a URL with a user name or password in it.');
  const isAllowed = apiHosts.some((host) => URL.parse(`${url.protocol}//${host}`)?.host === url.host);
  if (!isAllowed)
    throw new ApiRefusal(
      'url_not_allowed',
      `The tool calls ${url.host}, which may not be called as the person: the operator can add it to upstreams.${name}.apiHosts.`,
    );
  return url;
}

/** The reason of an {@link ApiRefusal}. */
export type ApiRefusalReason =
  | 'upstream_unknown'
  | 'no_person'
  | 'url_not_allowed'
  | 'body_not_allowed'
  | 'upstream_unavailable'
  | 'api_unreachable'
  | 'token_refused';

/**
 * A tool cannot call the API of an upstream. The message is meant for the person who called the tool, and
 * contains neither a token nor a response of the API.
 */
export class ApiRefusal extends Error {
  override name = 'ApiRefusal';
  readonly reason: ApiRefusalReason;
  constructor(reason: ApiRefusalReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A request to an API that can be sent more than once. */
export interface ApiRequest {
  method: string;
  headers: Headers;
  body?: Uint8Array;
}

/** Maximum size of a tool's request body, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024;

/** Headers that a tool must not set: authorization, host and framing. */
const ownHeaders = [
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Reads a tool's request with its complete body, which may be sent again with a renewed token.
 * @throws ApiRefusal if the body is too large
 */
export async function readApiRequest({ method = 'GET', headers, body }: RequestInit): Promise<ApiRequest> {
  const whole: ApiRequest = { method: method.toUpperCase(), headers: new Headers(headers) };
  for (const name of ownHeaders) whole.headers.delete(name);
  if (body === undefined || body === null) return whole;
  const read = new Response(body);
  const type = read.headers.get('content-type');
  if (type !== null && !whole.headers.has('content-type')) whole.headers.set('content-type', type);
  whole.body = await read.bytes();
  if (whole.body.byteLength > maxBodyBytes)
    throw new ApiRefusal('body_not_allowed', `The tool sends more than ${maxBodyBytes} bytes.`);
  return whole;
}
