import { canonicalResource } from '../oauth/resource-indicator.ts';
import { ClientError } from './client-error.ts';
import type { ClientContext, Fetch } from './context.ts';
import { describeFailure } from './network-failure.ts';
import { quote } from './quote.ts';
import { requireUrl } from './url-policy.ts';

/** Maximum size of a response, in bytes after decompression. */
const maxAnswerBytes = 256 * 1024;

/** Maximum wait for a response with its body, in milliseconds, unless the context sets one. */
const defaultTimeoutMs = 10_000;

/** The error for a redirect that the client does not follow: the user should know the target. */
function notFollowed(url: URL, { status, headers }: Response): ClientError {
  const location = headers.get('location');
  const where = location === null ? '' : ` to ${quote(location)}`;
  return new ClientError(
    'redirected',
    `${url.href} answered with a redirect (${status})${where}, which is not followed. Use the final URL.`,
  );
}

async function readLimited(response: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    length += part.value.byteLength;
    if (length > maxAnswerBytes) {
      await reader?.cancel();
      throw new ClientError('too_large', `${url.href} sent more than ${maxAnswerBytes / 1024} KiB.`);
    }
    chunks.push(part.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** Maximum number of redirects in a row. */
const maxRedirects = 5;

/** Options of {@link limitedFetch}. */
export interface LimitedFetchOptions {
  /** False if only status and headers matter: the body is then discarded. */
  keepBody?: boolean;
  /**
   * True follows redirects within the origin: any for GET, else only those that keep method and body.
   * Redirects to another origin are always rejected. False follows only a redirect to another spelling of the
   * same URL, see {@link redirectToSpelling}.
   */
  followsWithinOrigin?: boolean;
}

/** Returns the target of a redirect within the origin; undefined for other redirects. */
function redirectTarget(url: URL, method: string, response: Response): URL | undefined {
  const { status } = response;
  const keepsRequest = method === 'GET' || status === 307 || status === 308;
  const target = URL.parse(response.headers.get('location') ?? '', url.href);
  return keepsRequest && target?.origin === url.origin && target.username === '' ? target : undefined;
}

/**
 * Sends a request of the authorization flow with limits: the URL is checked, time and size are bounded, and
 * redirects follow the options.
 * @param context fetch, clock and limits
 * @returns a fetch whose responses are complete
 * @throws ClientError `bad_url`, `unreachable`, `redirected`, `timed_out`, `too_large`
 * @see RFC 9728 section 7.7; RFC 9700 section 4.12 (T-185, T-186)
 */
export function limitedFetch(context: ClientContext, options: LimitedFetchOptions = {}): Fetch {
  const { keepBody = true, followsWithinOrigin = false } = options;
  const { dangerouslyAllowHttp } = context;
  return async (target, init = {}) => {
    let url = requireUrl(String(target), 'The URL', { dangerouslyAllowHttp });
    const timeout = AbortSignal.timeout(context.timeoutMs ?? defaultTimeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      let response = await context.fetch(url.href, { ...init, redirect: 'manual', signal });
      for (let followed = 0; isRedirect(response); followed++) {
        await response.body?.cancel();
        const next = followsWithinOrigin
          ? redirectTarget(url, (init.method ?? 'GET').toUpperCase(), response)
          : URL.parse(redirectToSpelling(url, response) ?? '');
        if (!next || followed === maxRedirects) throw notFollowed(url, response);
        context.tolerated?.({
          tolerance: 'sameOriginRedirect',
          because: `${url.pathname} redirects to ${next.pathname}`,
        });
        url = requireUrl(next.href, 'The redirect', { dangerouslyAllowHttp });
        response = await context.fetch(url.href, { ...init, redirect: 'manual', signal });
      }
      if (!keepBody) await response.body?.cancel();
      const { status, statusText, headers } = response;
      const body = keepBody ? await readLimited(response, url) : undefined;
      return new Response(nullBodyStatuses.has(status) ? null : body, { status, statusText, headers });
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (timeout.aborted)
        throw new ClientError('timed_out', `${url.href} did not answer in time. Is the server up?`);
      throw new ClientError('unreachable', `${url.href} cannot be reached: ${describeFailure(error)}.`);
    }
  };
}

/** Statuses whose responses cannot be built with a body (WHATWG Fetch, "null body status"). */
export const nullBodyStatuses: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * Checks if a response is a redirect. Tokens and bodies are sent only to the URL that they are meant for.
 * @param answer of a fetch with `redirect: 'manual'`; browsers then return an opaque response
 * @see RFC 9110 section 15.4 (T-186)
 */
export function isRedirect({ status, type }: Pick<Response, 'status' | 'type'>): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);
}

/**
 * Returns the target of a redirect to another spelling of the same MCP server URL: with or without a slash at
 * the end. A token may be sent there, because both URLs are the same resource.
 * @param url of the request
 * @param answer only a redirect that keeps method and body (307, 308) counts
 * @returns undefined for any other redirect
 * @see RFC 9110 sections 15.4.8 and 15.4.9 (T-186)
 */
export function redirectToSpelling(url: string | URL, answer: Response): string | undefined {
  if (answer.status !== 307 && answer.status !== 308) return undefined;
  const target = URL.parse(answer.headers.get('location') ?? '', String(url))?.href;
  const isSame = target !== undefined && canonicalResource(target) === canonicalResource(String(url));
  return isSame && target !== String(url) ? target : undefined;
}
