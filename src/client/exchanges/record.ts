import type { Fetch } from '../context.ts';
import { nullBodyStatuses } from '../http-answer.ts';
import { describeFailure } from '../network-failure.ts';
import type { Exchange, ExchangeRecord } from './exchange.ts';
import { createRedaction, type Redaction } from './redact.ts';
import { watchBody } from './watch-body.ts';

/** How much is written down, and who is told. */
export interface RecordOptions {
  /** Most bytes held of each body; 64 KiB unless told. */
  maxBodyBytes?: number;
  /**
   * Told once of each exchange: when its body has ended, was cancelled or failed, or when no answer came; of an event
   * stream at its head, as it may never end.
   */
  onExchange?: (exchange: Exchange) => void;
  /** Epoch milliseconds; the clock of the runtime unless told. */
  nowMs?: () => number;
}

const defaultMaxBodyBytes = 64 * 1024;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type HeldResponse = Writable<NonNullable<Exchange['response']>>;

function textOf(body: RequestInit['body']): string | undefined {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  return undefined;
}

function heldBody(redaction: Redaction, body: RequestInit['body'], maxBodyBytes: number): { body?: string } {
  const text = textOf(body);
  if (text === undefined) return {};
  const cut = text.length > maxBodyBytes;
  return { body: redaction.body(cut ? text.slice(0, maxBodyBytes) : text, !cut) };
}

/** The same response with another body. What a `Response` cannot be told when it is made is put on it. */
function withBody(response: Response, body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(copy, name, { value: response[name] });
  return copy;
}

/**
 * A fetch that writes down what goes through it. Requests, answers and streams pass as they are and as fast as they are
 * read; what is held has no secrets in it (T-191).
 * @param fetch where requests go on to
 * @param options limits, and who is told
 */
export function recordExchanges(fetch: Fetch, options: RecordOptions = {}): ExchangeRecord {
  const { maxBodyBytes = defaultMaxBodyBytes, onExchange, nowMs = Date.now } = options;
  const exchanges: Writable<Exchange>[] = [];
  const redaction = createRedaction();

  const recorded: Fetch = async (target, init = {}) => {
    const startedAtMs = nowMs();
    const exchange: Writable<Exchange> = {
      number: exchanges.length + 1,
      startedAtMs,
      durationMs: 0,
      request: {
        method: (init.method ?? 'GET').toUpperCase(),
        url: redaction.url(URL.parse(String(target))?.href ?? String(target)),
        headers: redaction.headers(new Headers(init.headers)),
        ...heldBody(redaction, init.body, maxBodyBytes),
      },
    };
    exchanges.push(exchange);
    let response: Response;
    try {
      response = await fetch(target, init);
    } catch (error) {
      exchange.durationMs = nowMs() - startedAtMs;
      exchange.failure = redaction.body(describeFailure(error), true);
      onExchange?.(exchange);
      throw error;
    }
    exchange.durationMs = nowMs() - startedAtMs;
    const held: HeldResponse = { status: response.status, headers: redaction.headers(response.headers) };
    exchange.response = held;
    if (response.body === null || nullBodyStatuses.has(response.status)) {
      onExchange?.(exchange);
      return response;
    }
    const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
    if (isStream) onExchange?.(exchange);
    const body = watchBody(response.body, maxBodyBytes, {
      text: (text, complete, truncated) => {
        held.body = redaction.body(text, complete);
        if (truncated) held.truncated = true;
      },
      failed: (error) => {
        exchange.failure = redaction.body(describeFailure(error), true);
      },
      over: () => {
        if (!isStream) onExchange?.(exchange);
      },
    });
    return withBody(response, body);
  };
  return { fetch: recorded, exchanges };
}
