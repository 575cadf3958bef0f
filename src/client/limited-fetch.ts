import { ClientError } from './client-error.ts';
import type { ClientContext, Fetch } from './context.ts';
import { isRedirect, nullBodyStatuses } from './http-answer.ts';
import { describeFailure } from './network-failure.ts';
import { requireUrl } from './url-policy.ts';

/** Longest answer read, in bytes after decompression. */
export const maxAnswerBytes = 256 * 1024;

/** Longest wait for an answer with its body, in milliseconds, unless the context says otherwise. */
export const defaultTimeoutMs = 10_000;

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

/**
 * Sends one request of the authorization flow within limits: checked URL, no redirects, bounded time and size.
 * @param context where requests go through
 * @param keepBody false where only status and headers count; the body is then dropped unread
 * @returns a fetch whose responses are complete
 * @throws ClientError `bad_url`, `unreachable`, `redirected`, `timed_out`, `too_large`
 * @see RFC 9728 section 7.7; RFC 9700 section 4.12 (T-185, T-186)
 */
export function limitedFetch(context: ClientContext, keepBody = true): Fetch {
  return async (target, init = {}) => {
    const url = requireUrl(String(target), 'The URL', { dangerouslyAllowHttp: context.dangerouslyAllowHttp });
    const timeout = AbortSignal.timeout(context.timeoutMs ?? defaultTimeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const response = await context.fetch(url.href, { ...init, redirect: 'manual', signal });
      const redirected = isRedirect(response);
      if (redirected || !keepBody) await response.body?.cancel();
      if (redirected)
        throw new ClientError(
          'redirected',
          `${url.href} answered with a redirect (${response.status}), which is not followed. Use the final URL.`,
        );
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
