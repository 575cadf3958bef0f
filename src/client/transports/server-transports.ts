import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Fetch } from '../context.ts';
import { type AnswerLimits, boundedFetch, defaultHeadTimeoutMs } from './bounded-fetch.ts';
import { EventStreamTransport } from './event-stream-transport.ts';
import { type MarkedNumbers, markMessage, withMarkedNumbers } from './exact-numbers.ts';
import { RenewingTransport } from './renewing-transport.ts';
import { RestClientTransport } from './rest-transport.ts';
import { withUnbatchedEvents } from './unbatched-events.ts';

/** Ways to reach a server by URL: streamable HTTP, the old HTTP+SSE, Rest. */
export type HttpTransportKind = 'http' | 'sse' | 'rest';

/** Parts of the transport to a URL. */
export interface ServerTransportOptions {
  url: string;
  /** A fetch that carries the login, see `withAuthorization`. */
  fetch: Fetch;
  /** The same for the old HTTP+SSE, whose messages go to another URL of the origin; `fetch` unless told. */
  eventStreamFetch?: Fetch | undefined;
  limits?: AnswerLimits | undefined;
  /** The numbers that are handed on as marked texts, for a program that writes them as they were written; none by default. */
  markedNumbers?: MarkedNumbers | undefined;
  /** Number of attempts to reopen a broken event stream; two by default. */
  maxStreamRetries?: number | undefined;
}

/** First wait before an event stream is opened again, in milliseconds; the server's `retry` goes before it (B4-03). */
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

/** However soon or late a server wants its event stream opened again, it waits at least and at most so long, in milliseconds (T-189). */
const [leastWaitMs, longestWaitMs] = [100, 300_000];

/** Opens an event stream again. @returns takes it back */
function openLater(open: () => void, waitMs: number): () => void {
  const timer = setTimeout(open, Math.min(Math.max(waitMs, leastWaitMs), longestWaitMs));
  return () => clearTimeout(timer);
}

/**
 * Makes a transport to a server; answers are bounded, redirects are not followed, lost sessions are renewed.
 * @param kind which of the transports
 * @param options the server, and the fetch
 * @returns a transport that has not been started
 * @throws ClientError `bad_url`
 */
export function createServerTransport(
  kind: HttpTransportKind,
  options: ServerTransportOptions,
): RenewingTransport {
  const { url, limits, maxStreamRetries = 2, markedNumbers } = options;
  const { eventStreamFetch = options.fetch } = options;
  const bounded = boundedFetch(kind === 'sse' ? eventStreamFetch : options.fetch, limits);
  const fetch = markedNumbers
    ? withMarkedNumbers(
        withUnbatchedEvents(bounded, (data) => markMessage(data, markedNumbers)),
        markedNumbers,
      )
    : withUnbatchedEvents(bounded);
  const open = {
    http: () =>
      new StreamableHTTPClientTransport(new URL(url), {
        fetch,
        onInsufficientScope: 'throw',
        reconnectionOptions: {
          initialReconnectionDelay: firstRetryMs,
          maxReconnectionDelay: longestRetryMs,
          reconnectionDelayGrowFactor: 1.5,
          maxRetries: maxStreamRetries,
        },
        reconnectionScheduler: openLater,
      }),
    sse: () => new EventStreamTransport({ url, fetch }),
    rest: () =>
      new RestClientTransport({ url, fetch, timeoutMs: limits?.headTimeoutMs ?? defaultHeadTimeoutMs }),
  };
  return new RenewingTransport(open[kind]);
}
