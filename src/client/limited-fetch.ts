import { ClientError } from './client-error.ts';
import type { ClientContext, Fetch } from './context.ts';
import { isRedirect, nullBodyStatuses, redirectToSpelling } from './http-answer.ts';
import { describeFailure } from './network-failure.ts';
import { quote } from './quote.ts';
import { requireUrl } from './url-policy.ts';

/** Longest answer read, in bytes after decompression. */
export const maxAnswerBytes = 256 * 1024;

/** Longest wait for an answer with its body, in milliseconds, unless the context says otherwise. */
export const defaultTimeoutMs = 10_000;

/** A redirect that is not followed: whoever runs the server has to know where it leads. */
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

/** Redirects that are followed one after the other. */
const maxRedirects = 5;

/** What a limited fetch does with an answer. */
export interface LimitedFetchOptions {
  /** False if only status and headers count: the body is then dropped unread. */
  keepBody?: boolean;
  /**
   * True follows redirects within the origin: of a GET any, of other requests those that keep method and body. Nothing
   * goes anywhere else. False follows one to another spelling of the same URL alone, see {@link redirectToSpelling}.
   */
  followsWithinOrigin?: boolean;
}

/** @returns where a redirect within the origin leads to; undefined for other redirects */
function redirectTarget(url: URL, method: string, response: Response): URL | undefined {
  const { status } = response;
  const keepsRequest = method === 'GET' || status === 307 || status === 308;
  const target = URL.parse(response.headers.get('location') ?? '', url.href);
  return keepsRequest && target?.origin === url.origin && target.username === '' ? target : undefined;
}

/**
 * Sends one request of the authorization flow within limits: checked URL, bounded time and size, redirects as told.
 * @param context where requests go through
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
