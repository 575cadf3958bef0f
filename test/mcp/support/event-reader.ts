import { onTestFinished } from 'vitest';

/** One server-sent event. */
export interface ReadEvent {
  id?: string;
  data?: string;
  retry?: number;
  /** Parsed data, where there is some. */
  message?: {
    id?: unknown;
    method?: string;
    params?: Record<string, unknown>;
    result?: unknown;
    error?: { code: number; message: string };
  };
}

/** A stream of server-sent events, read as they come. */
export interface EventReader {
  response: Response;
  /** Gives the next event; undefined once the stream ended. Comments are left out. */
  next(): Promise<ReadEvent | undefined>;
  /** Gives events until one carries a message that fits. */
  until(fits: (message: NonNullable<ReadEvent['message']>) => boolean): Promise<ReadEvent>;
  /** Reads to the end. */
  rest(): Promise<ReadEvent[]>;
  /** Whether it ended by a broken connection. */
  broke(): boolean;
  /** Goes away. */
  leave(): void;
}

/** Reads the stream a request is answered with. */
export async function readEvents(send: (signal: AbortSignal) => Promise<Response>): Promise<EventReader> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await send(leaving.signal);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = '';
  let isBroken = false;

  const frame = async (): Promise<string | undefined> => {
    while (!buffered.includes('\n\n')) {
      const read = await reader?.read().catch(() => {
        isBroken = true;
      });
      if (!read || read.done) return undefined;
      buffered += read.value;
    }
    const end = buffered.indexOf('\n\n');
    const text = buffered.slice(0, end);
    buffered = buffered.slice(end + 2);
    return text;
  };
  const next = async (): Promise<ReadEvent | undefined> => {
    for (let text = await frame(); text !== undefined; text = await frame()) {
      const event: ReadEvent = {};
      for (const line of text.split('\n')) {
        const [, name, value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (name === 'id') event.id = value;
        if (name === 'data') event.data = value;
        if (name === 'retry') event.retry = Number(value);
      }
      if (event.data) event.message = JSON.parse(event.data);
      if (Object.keys(event).length > 0) return event;
    }
    return undefined;
  };
  return {
    response,
    next,
    async until(fits) {
      for (let event = await next(); event; event = await next())
        if (event.message && fits(event.message)) return event;
      throw new Error('The stream ended before the message came.');
    },
    async rest() {
      const events: ReadEvent[] = [];
      for (let event = await next(); event; event = await next()) events.push(event);
      return events;
    },
    broke: () => isBroken,
    leave: () => leaving.abort(),
  };
}
