import { SSEClientTransport } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import type { Fetch } from '../context.ts';

/** Longest wait for the `endpoint` event, in milliseconds. */
const defaultPatienceMs = 10_000;

/** What the transport needs. */
export interface EventStreamTransportOptions {
  /** URL of the event stream. */
  url: string;
  /** What requests go through, see `boundedFetch`. */
  fetch: Fetch;
  /** Longest wait for the `endpoint` event, in milliseconds; 10 s unless told. */
  patienceMs?: number | undefined;
}

/**
 * The old HTTP+SSE transport. The SDK's own waits for the `endpoint` event for ever, opens a new stream in place of
 * one that ended though the session went with it, and does not say why a stream could not be opened.
 * @see MCP 2024-11-05 transports "HTTP with SSE" (B2-01, B2-02)
 */
export class EventStreamTransport extends SSEClientTransport {
  readonly #url: string;
  readonly #patienceMs: number;
  readonly #failure: { first?: unknown };

  /** @param options where to, and through what */
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
   * Opens the stream, and waits for the URL to post to, which has to be of the same origin.
   * @throws ClientError `timed_out`; what the given fetch and the SDK throw
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
