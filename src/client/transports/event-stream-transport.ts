import { SSEClientTransport } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import type { Fetch } from '../context.ts';

/** Maximum wait for the `endpoint` event, in milliseconds. */
const defaultPatienceMs = 10_000;

/** Options of an {@link EventStreamTransport}. */
export interface EventStreamTransportOptions {
  /** URL of the event stream. */
  url: string;
  /** Sends the requests, see `boundedFetch`. */
  fetch: Fetch;
  /** Maximum wait for the `endpoint` event, in milliseconds (default 10 s). */
  patienceMs?: number | undefined;
}

/**
 * The old HTTP+SSE transport. The SDK's own waits for the `endpoint` event without a limit, opens a new
 * stream after the end of one although the session ended with it, and does not report why a stream could not
 * be opened.
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-01, B2-02)
 */
export class EventStreamTransport extends SSEClientTransport {
  readonly #url: string;
  readonly #patienceMs: number;
  readonly #failure: { first?: unknown };

  constructor({ url, fetch, patienceMs = defaultPatienceMs }: EventStreamTransportOptions) {
    const failure: { first?: unknown } = {};
    let hasStream = false;
    super(new URL(url), {
      fetch: async (target, init) => {
        const opensStream = (init?.method ?? 'GET') === 'GET';
        if (opensStream && hasStream) {
          queueMicrotask(() => void this.close());
          throw new ClientError('unreachable', `${url} ended its event stream.`);
        }
        try {
          const response = await fetch(target, init);
          hasStream ||= opensStream && response.ok;
          return response;
        } catch (error) {
          if (opensStream) failure.first ??= error;
          throw error;
        }
      },
    });
    this.#url = url;
    this.#patienceMs = patienceMs;
    this.#failure = failure;
  }

  /**
   * Opens the stream, and waits for the URL for POST requests, which has to be on the same origin.
   * @throws ClientError `timed_out`; the errors of the given fetch and the SDK
   */
  override async start(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () =>
        reject(
          new ClientError('timed_out', `${this.#url} opens an event stream, but names no URL to post to.`),
        ),
      this.#patienceMs,
    );
    try {
      await Promise.race([super.start(), late]);
    } catch (error) {
      await this.close();
      throw this.#failure.first ?? error;
    } finally {
      clearTimeout(timer);
    }
  }
}
