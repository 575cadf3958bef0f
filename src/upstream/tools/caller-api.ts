import { setTimeout as sleep } from 'node:timers/promises';
import { accountMark } from '../../crypto/secret.ts';
import { FetchRefused } from '../../net/fetch-refused.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { CallerToken } from '../bond/standing.ts';
import type { Upstream, Upstreams } from '../upstream.ts';
import { readApiAddress } from './api-address.ts';
import { ApiRefusal } from './api-refusal.ts';
import { type ApiRequest, readApiRequest } from './api-request.ts';
import type { CallerTokens } from './caller-tokens.ts';

/** Sends one request to an API; a redirect is given as it came. @throws FetchRefused */
export type ApiFetch = (
  url: URL,
  request: ApiRequest & { signal: AbortSignal | undefined },
) => Promise<Response>;

/** What calls to APIs are made of. */
export interface CallerApiOptions {
  upstreams: Upstreams;
  tokens: CallerTokens;
  /** The fetch for the API of an upstream. */
  fetchOf(upstream: Upstream): ApiFetch;
  /** Whether APIs may be on this very machine, without https. */
  dangerouslyFromLoopback: boolean;
  /** URL of the account pages, without a slash at its end. */
  accountUrl: string;
}

/** A request of a tool, in the name of whoever called it. */
export interface ApiCall {
  caller: AuthInfo;
  /** Name of the upstream. */
  upstream: string;
  url: string | URL;
  init: RequestInit;
  /** What the token must have been given for. */
  scopes: readonly string[];
  /** How long somebody who is linking just now is waited for, in milliseconds. */
  patienceMs: number;
  signal?: AbortSignal | undefined;
}

/** What the person has to give first, and where. */
export interface MissingAtUpstream {
  missing: 'link' | 'scopes';
  upstream: string;
  label: string;
  /** The page of ours where they give it. */
  url: string;
  accountId: string;
  scopes: readonly string[];
}

/** Calls APIs of upstreams as the accounts that call tools. */
export interface CallerApi {
  /** @returns the answer of the API, or what is missing. @throws ApiRefusal */
  call(call: ApiCall): Promise<Response | MissingAtUpstream>;
  /** Whether the person has given what was missing. */
  isGiven(missing: MissingAtUpstream): Promise<boolean>;
}

/** How often it is looked whether somebody has linked, in milliseconds. */
const lookEveryMs = 500;

/** Most redirects that are followed. */
const maxRedirects = 5;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Creates it. The caller's token goes into the request and nowhere else: not to another host, an error or a log (T-093). */
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

  /** The token of a caller; where their person is linking just now, as soon as they have. */
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

  /** Sends it with a token, and follows redirects within the host. */
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

  /** The page where an account links an upstream; somebody else who opens it is told so (C7-04). */
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
