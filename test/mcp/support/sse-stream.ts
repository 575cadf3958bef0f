import { onTestFinished } from 'vitest';
import type { SseEndpoint } from './sse-endpoint.ts';

/** One event, as it came over the wire. */
export interface WireEvent {
  event: string;
  data: string;
}

/** A stream of HTTP+SSE, read by hand. */
export interface RawStream {
  response: Response;
  /** Where to post, from the first event. */
  postUrl: URL;
  /** Everything that came so far. */
  text(): string;
  /** Waits for the next event. Gives undefined at the end of the stream. */
  next(): Promise<WireEvent | undefined>;
  /** Waits for the next message. */
  message(): Promise<Record<string, unknown>>;
  /** Posts a message, or what is given as body. */
  post(message: unknown, bearer?: string): Promise<Response>;
  /** Sends `initialize` and gives the result. */
  initialize(protocolVersion?: string): Promise<Record<string, unknown>>;
  leave(): void;
}

/** Opens a stream for an account, and leaves it after the test. */
export async function openStream({ url }: Pick<SseEndpoint, 'url'>, bearer = 'ann'): Promise<RawStream> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const headers = { authorization: `Bearer ${bearer}`, accept: 'text/event-stream' };
  const response = await fetch(url, { headers, signal: leaving.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let read = 0;

  const next = async (): Promise<WireEvent | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n', read);
      if (end >= 0) {
        const block = text.slice(read, end);
        read = end + 2;
        const fields = block.split('\n').filter((line) => !line.startsWith(':'));
        if (fields.length === 0) continue;
        const of = (name: string): string =>
          fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
        return { event: of('event'), data: of('data') };
      }
      const chunk = await reader?.read().catch(() => undefined);
      if (!chunk || chunk.done) return undefined;
      text += chunk.value;
    }
  };
  const first = response.ok ? await next() : undefined;
  const postUrl = new URL(first?.data ?? '', url);
  const stream: RawStream = {
    response,
    postUrl,
    text: () => text,
    next,
    async message() {
      const event = await next();
      if (event?.event !== 'message') throw new Error(`a message was expected: ${JSON.stringify(event)}`);
      return JSON.parse(event.data);
    },
    post: (message, from = bearer) =>
      fetch(postUrl, {
        method: 'POST',
        headers: { authorization: `Bearer ${from}`, 'content-type': 'application/json' },
        body: typeof message === 'string' ? message : JSON.stringify(message),
      }),
    async initialize(protocolVersion = '2024-11-05') {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } };
      await stream.post({ jsonrpc: '2.0', id: 'init', method: 'initialize', params });
      const answer = await stream.message();
      await stream.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer.result as Record<string, unknown>;
    },
    leave: () => leaving.abort(),
  };
  return stream;
}
