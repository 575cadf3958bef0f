import type { Fetch } from '../context.ts';
import { isEventStream } from './bounded-fetch.ts';

const isData = (line: string): boolean => /^data(?::|$)/.test(line);
const isId = (line: string): boolean => /^id(?::|$)/.test(line);

/** Returns the messages of a batch; undefined if the data is no batch. */
function readBatch(data: string): unknown[] | undefined {
  if (!data.trimStart().startsWith('[')) return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const write = (lines: readonly string[]): string => `${lines.join('\n')}\n\n`;

/** Returns the text of an event, or of one event for each message of a batch. */
function unbatch(lines: readonly string[], rewrite: (data: string) => string): string {
  const given = lines
    .filter(isData)
    .map((line) => line.replace(/^data:? ?/, ''))
    .join('\n');
  const data = rewrite(given);
  const batch = readBatch(data);
  if (!batch && data === given) return write(lines);
  if (!batch) return write([...lines.filter((line) => !isData(line)), `data: ${data}`]);
  const others = lines.filter((line) => !isData(line) && !isId(line));
  // A client that resumes after the id has received the complete batch.
  const idOf = (at: number): string[] => (at === batch.length - 1 ? lines.filter(isId) : []);
  return batch
    .map((message, at) => write([...others, ...idOf(at), `data: ${JSON.stringify(message)}`]))
    .join('');
}

/**
 * Splits a text into the lines of an event stream: they end with CR LF, LF or CR, which chunks may divide.
 */
function createLineCutter(): (text: string) => string[] {
  let begun = '';
  let endedWithReturn = false;
  return (text) => {
    if (text === '') return [];
    const fresh = endedWithReturn && text.startsWith('\n') ? text.slice(1) : text;
    endedWithReturn = text.endsWith('\r');
    const [first = '', ...others] = fresh.split(/\r\n|\n|\r/);
    const lines = [begun + first, ...others];
    begun = lines.pop() ?? '';
    return lines;
  };
}

/** Creates the stream that converts events; an incomplete event is omitted. */
function unbatchedEvents(rewrite: (data: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const cut = createLineCutter();
  let event: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      for (const line of cut(decoder.decode(chunk, { stream: true }))) {
        if (line !== '') event.push(line);
        else if (event.length > 0) {
          controller.enqueue(encoder.encode(unbatch(event, rewrite)));
          event = [];
        }
      }
    },
  });
}

/**
 * Wraps a fetch to send each message of an event stream in an event of its own. Servers of 2025-03-26 may
 * send several as one array, which the SDK's transports reject.
 * @param fetch sends the requests
 * @param rewrite returns another text of one line for the data of an event, or the same
 * @returns a fetch whose other responses are unchanged
 * @see MCP 2025-03-26 transports "Sending Messages to the Server" (B3-15); WHATWG HTML section 9.2.5
 */
export function withUnbatchedEvents(fetch: Fetch, rewrite: (data: string) => string = (data) => data): Fetch {
  return async (target, init) => {
    const response = await fetch(target, init);
    const { body, status, statusText, headers } = response;
    if (body === null || !isEventStream(headers)) return response;
    return new Response(body.pipeThrough(unbatchedEvents(rewrite)), { status, statusText, headers });
  };
}
