import { ClientError } from '../client-error.ts';
import type { Fetch } from '../context.ts';
import { isRedirect, nullBodyStatuses } from '../limited-fetch.ts';
import { describeFailure } from '../network-failure.ts';
import {
  type AnswerLimits,
  boundedBody,
  defaultHeadTimeoutMs,
  defaultMaxAnswerBytes,
} from './answer-limits.ts';

async function requireNoRedirect(response: Response, url: string): Promise<void> {
  if (!isRedirect(response)) return;
  await response.body?.cancel();
  const target = URL.parse(response.headers.get('location') ?? '', url);
  const isOther = target !== null && /^https?:$/.test(target.protocol) && target.href !== url;
  const hint = isOther ? ` If you trust it, use ${target.origin}${target.pathname} as the URL.` : '';
  throw new ClientError('redirected', `${url} answered with a redirect, which is not followed.${hint}`);
}

/**
 * A fetch for MCP messages within limits: no redirects, a bounded wait for the head, bounded bodies and events.
 * @param fetch what requests go through; it may carry a login
 * @param limits how much of an answer is read
 * @returns a fetch; it rejects with ClientError `unreachable`, `timed_out` or `redirected`, and with what the given
 *   fetch and the signal of the request say
 * @see MCP transports "Streamable HTTP" (T-186, T-189)
 */
export function boundedFetch(fetch: Fetch, limits: AnswerLimits = {}): Fetch {
  const { maxAnswerBytes = defaultMaxAnswerBytes, headTimeoutMs = defaultHeadTimeoutMs } = limits;
  return async (target, init = {}) => {
    const url = String(target);
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), headTimeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, patience.signal]) : patience.signal;
    try {
      const response = await fetch(target, { ...init, redirect: 'manual', signal });
      await requireNoRedirect(response, url);
      const { status, statusText, headers } = response;
      const body = nullBodyStatuses.has(status) ? null : boundedBody(response, url, maxAnswerBytes);
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      if (init.signal?.aborted || error instanceof ClientError) throw error;
      if (patience.signal.aborted)
        throw new ClientError('timed_out', `${url} did not answer in time. Is the server up?`);
      throw new ClientError('unreachable', `${url} cannot be reached: ${describeFailure(error)}.`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  };
}
