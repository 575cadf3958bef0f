import { ClientError } from '../client-error.ts';
import type { Fetch } from '../context.ts';
import { isRedirect, nullBodyStatuses } from '../limited-fetch.ts';
import { describeFailure } from '../network-failure.ts';

async function requireNoRedirect(response: Response, url: string): Promise<void> {
  if (!isRedirect(response)) return;
  await response.body?.cancel();
  const target = URL.parse(response.headers.get('location') ?? '', url);
  const isOther = target !== null && /^https?:$/.test(target.protocol) && target.href !== url;
  const hint = isOther ? ` If you trust it, use ${target.origin}${target.pathname} as the URL.` : '';
  throw new ClientError('redirected', `${url} answered with a redirect, which is not followed.${hint}`);
}

/**
 * Wraps a fetch for MCP messages with limits: no redirects, a maximum wait for the head, and a maximum size
 * of bodies and events.
 * @param fetch sends the requests; it may add the login
 * @param limits maximum sizes and times
 * @returns a fetch; it rejects with ClientError `unreachable`, `timed_out` or `redirected`, and with the
 *   errors of the given fetch and the signal of the request
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

/** Limits of responses. */
export interface AnswerLimits {
  /**
   * Maximum size of a body, and of one event of an event stream, in bytes after decompression (default 32
   * MiB).
   */
  maxAnswerBytes?: number | undefined;
  /**
   * Maximum wait for the head of a response, in milliseconds (default 5 minutes). Servers may send it only
   * after the tool has its result.
   */
  headTimeoutMs?: number | undefined;
}

/** See {@link AnswerLimits}. */
const defaultMaxAnswerBytes = 32 * 1024 * 1024;

/** See {@link AnswerLimits}. */
export const defaultHeadTimeoutMs = 5 * 60_000;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Creates a meter of the bytes of an event stream since the last blank line, which ends an event.
 * @returns a function that takes the next bytes, and returns the length of the longest event in them so far
 * @see WHATWG HTML section 9.2.5 "Parsing an event stream": lines end with CR LF, LF or CR
 */
export function createEventMeter(): (chunk: Uint8Array) => number {
  let length = 0;
  let isLineEmpty = true;
  let wasCarriageReturn = false;
  return (chunk) => {
    let longest = 0;
    for (const byte of chunk) {
      length++;
      const isSecondHalf = byte === lineFeed && wasCarriageReturn;
      wasCarriageReturn = byte === carriageReturn;
      if (isSecondHalf) continue;
      if (byte !== lineFeed && byte !== carriageReturn) {
        isLineEmpty = false;
        continue;
      }
      if (isLineEmpty) {
        longest = Math.max(longest, length);
        length = 0;
      }
      isLineEmpty = true;
    }
    return Math.max(longest, length);
  };
}

/** Checks if a body is an event stream. */
export function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

/** Creates a meter of the bytes of a body with one message. */
function createBodyMeter(): (chunk: Uint8Array) => number {
  let length = 0;
  return (chunk) => {
    length += chunk.byteLength;
    return length;
  };
}

/**
 * Limits a body: reading it fails if it is too long. An event stream may be endless, its events may not
 * (T-189).
 * @param response a response with an unread body
 * @param url its URL, for the message
 * @param maxBytes see {@link AnswerLimits}
 * @returns the body; reading it rejects with ClientError `too_large`
 */
export function boundedBody(
  { body, headers }: Response,
  url: string,
  maxBytes: number,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const isStream = isEventStream(headers);
  const measure = isStream ? createEventMeter() : createBodyMeter();
  const what = isStream ? 'an event' : 'an answer';
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (measure(chunk) <= maxBytes) controller.enqueue(chunk);
        else
          controller.error(
            new ClientError('too_large', `${url} sent ${what} of more than ${maxBytes / 1024} KiB.`),
          );
      },
    }),
  );
}
