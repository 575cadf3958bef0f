import type { Probe, Subject } from '../subject.ts';
import type { McpCaller } from './mcp-caller.ts';

/** Observations of the stream that a client keeps open. */
export type EventStream =
  | {
      kind: 'open';
      /** Milliseconds until the head of the answer. */
      headMs: number;
      /** Milliseconds until the first byte of the body; absent if none came in time. */
      firstByteMs?: number;
      encoding: string | null;
      /** Goes on reading. */
      watch: (milliseconds: number, onSecond?: (left: number) => void) => Promise<Watched>;
    }
  /** Not even the head came in time. */
  | { kind: 'held'; waitedMs: number }
  | { kind: 'none'; why: string };

/** Fate of a watched stream. */
interface Watched {
  /** True if it ended before its time. */
  ended: boolean;
  /** Since it was opened. */
  afterMs: number;
  /** Seconds without a byte before the end, or the longest gap if it did not end. */
  silenceMs: number;
}

/** Milliseconds that the head and the first byte may take. Both arrive at once on a sound path. */
export const firstByteWaitMs = 4_000;

/** Resolves to `late` unless the work is earlier. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | 'late'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a stream and remembers when bytes came and whether it ended. */
class StreamReader {
  readonly #startedMs = performance.now();
  readonly #first = Promise.withResolvers<void>();
  readonly #over: Promise<void>;
  #lastByteMs = performance.now();
  #longestGapMs = 0;
  #endedMs: number | undefined;
  firstByteMs: number | undefined;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#over = this.#read(body.getReader());
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    try {
      for (let part = await reader.read(); part.value !== undefined; part = await reader.read()) {
        const now = performance.now();
        this.firstByteMs ??= now - this.#startedMs;
        this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastByteMs);
        this.#lastByteMs = now;
        this.#first.resolve();
      }
    } catch {
      // A cut shows as an error of the reader; when it came is all that counts.
    }
    this.#endedMs = performance.now();
  }

  async waitForFirst(milliseconds: number): Promise<void> {
    await within(Promise.race([this.#first.promise, this.#over]), milliseconds);
  }

  async watch(milliseconds: number, onSecond?: (left: number) => void): Promise<Watched> {
    const untilMs = this.#startedMs + milliseconds;
    const ticking = setInterval(() => {
      onSecond?.(Math.max(0, Math.round((untilMs - performance.now()) / 1000)));
    }, 1000);
    await within(this.#over, Math.max(0, untilMs - performance.now()));
    clearInterval(ticking);
    const endMs = this.#endedMs ?? performance.now();
    const lastGapMs = endMs - this.#lastByteMs;
    return {
      ended: this.#endedMs !== undefined,
      afterMs: endMs - this.#startedMs,
      silenceMs: this.#endedMs === undefined ? Math.max(lastGapMs, this.#longestGapMs) : lastGapMs,
    };
  }
}

/**
 * Makes the probe that opens the stream a client keeps open for what the server has to say.
 * @param caller the probe that speaks MCP
 * @see MCP Streamable HTTP, "Listening for Messages from the Server"
 */
export function eventStream(caller: Probe<McpCaller>): Probe<EventStream> {
  return async (subject: Subject) => {
    const found = await subject.fact(caller);
    if (found.kind === 'silent') return { kind: 'none', why: found.why };
    const { 'content-type': _none, ...headers } = found.headers as Record<string, string>;
    const stop = new AbortController();
    subject.atEnd(async () => stop.abort());
    const startedMs = performance.now();
    const opening = subject.context
      .fetch(subject.url, {
        headers: { ...headers, accept: 'text/event-stream' },
        redirect: 'manual',
        signal: stop.signal,
      })
      .catch((error: unknown) => (error instanceof Error ? error.message : 'no answer'));
    const response = await within(opening, firstByteWaitMs);
    if (response === 'late') {
      stop.abort();
      return { kind: 'held', waitedMs: firstByteWaitMs };
    }
    if (typeof response === 'string')
      return { kind: 'none', why: `the stream could not be opened: ${response}` };
    const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
    if (response.status !== 200 || !isStream || response.body === null) {
      await response.body?.cancel();
      const why =
        response.status === 405
          ? 'the server keeps no stream open for clients (405)'
          : `the stream was answered with status ${response.status}`;
      return { kind: 'none', why };
    }
    const headMs = performance.now() - startedMs;
    const reader = new StreamReader(response.body);
    await reader.waitForFirst(firstByteWaitMs);
    const { firstByteMs } = reader;
    return {
      kind: 'open',
      headMs,
      ...(firstByteMs === undefined ? {} : { firstByteMs: headMs + firstByteMs }),
      encoding: response.headers.get('content-encoding'),
      watch: (milliseconds, onSecond) => reader.watch(milliseconds, onSecond),
    };
  };
}
