import type { Fetch } from '../context.ts';
import { nullBodyStatuses } from '../limited-fetch.ts';
import { describeFailure } from '../network-failure.ts';
import { createRedaction, type Redaction } from './redact.ts';

/** Options of {@link recordExchanges}. */
export interface RecordOptions {
  /** Maximum size of a recorded body, in bytes (default 64 KiB). */
  maxBodyBytes?: number;
  /**
   * Called once for each exchange: when its body has ended, was cancelled or failed, or when the request
   * failed. For an event stream it is called at its head, because the stream may never end.
   */
  onExchange?: (exchange: Exchange) => void;
  /** Epoch milliseconds (default: the clock of the runtime). */
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

/**
 * Creates the same response with another body. The members that the constructor of `Response` does not accept
 * are defined on it.
 */
function withBody(response: Response, body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(copy, name, { value: response[name] });
  return copy;
}

/**
 * Wraps a fetch to record its exchanges. Requests, responses and streams pass unchanged and without delay.
 * The record contains no secrets (T-191).
 * @param fetch sends the requests
 * @param options limits, and a callback
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

/** One HTTP request and its response. Tokens, codes, verifiers and keys are replaced by their names. */
export interface Exchange {
  /** Position in its record, from 1. */
  number: number;
  /** Epoch milliseconds. */
  startedAtMs: number;
  /** Time until the head of the response or the failure, in milliseconds. */
  durationMs: number;
  request: { method: string; url: string; headers: readonly (readonly [string, string])[]; body?: string };
  /** Absent if there was no response. */
  response?: {
    status: number;
    headers: readonly (readonly [string, string])[];
    /** The part that was read, up to a limit. */
    body?: string;
    /** Set if the body is longer than the recorded part. */
    truncated?: true;
  };
  /** The reason if there was no response. */
  failure?: string;
}

/** A recording fetch. */
export interface ExchangeRecord {
  /** The fetch that is recorded. */
  fetch: Fetch;
  /** The exchanges so far, in the order of their start. */
  exchanges: readonly Exchange[];
}

/** Callbacks while a body is read. */
export interface BodyWatcher {
  /**
   * @param text the text so far, up to the limit
   * @param complete true if the body ended with it
   * @param truncated true if the body is longer than the limit
   */
  text(text: string, complete: boolean, truncated: boolean): void;
  /** The body failed. */
  failed(error: unknown): void;
  /** The body ended, failed, or its reader cancelled it. */
  over(): void;
}

/**
 * Passes a body on at the pace of its reader, and reports its beginning. Nothing beyond the limit is kept, so
 * that an endless body needs no memory (T-189).
 * @param body the body
 * @param maxBytes maximum number of bytes to keep
 * @param watcher the callbacks
 */
export function watchBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxBytes: number,
  watcher: BodyWatcher,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let room = maxBytes;
  let full = false;
  const keep = (chunk: Uint8Array): void => {
    if (full) return;
    full = chunk.byteLength > room;
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    room -= Math.min(room, chunk.byteLength);
    watcher.text(text, false, full);
    if (full) text = '';
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            keep(value);
            controller.enqueue(value);
            return;
          }
          if (!full) watcher.text(text + decoder.decode(), true, false);
          controller.close();
          watcher.over();
        } catch (error) {
          watcher.failed(error);
          watcher.over();
          controller.error(error);
        }
      },
      async cancel(reason) {
        watcher.over();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
