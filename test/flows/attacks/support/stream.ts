import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** A stream of server-sent events, read as it comes. */
export interface OpenStream {
  status: number;
  headers: IncomingHttpHeaders;
  /** Everything that came so far. */
  text(): string;
  /** Waits until the text matches, and gives the match. Rejects when the stream ends before. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the answer to a request. */
  answerTo(id: unknown): Promise<Record<string, unknown>>;
  /** Resolves when the stream ended, however it ended. */
  ended: Promise<void>;
  leave(): void;
}

/** Opens a stream, with exactly these headers. @param origin where the server listens */
export function openStream(
  origin: string,
  path: string,
  headers: Record<string, string>,
  { method = 'GET', body }: { method?: string; body?: string } = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(origin, { method, path, headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      let isOver = false;
      const looking = new Set<() => void>();
      const look = (): void => {
        for (const one of [...looking]) one();
      };
      const ended = new Promise<void>((over) =>
        response.once('close', () => {
          isOver = true;
          look();
          over();
        }),
      );
      response.on('error', () => undefined);
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        look();
      });
      const find = <T>(search: () => T | undefined, what: string): Promise<T> =>
        new Promise((found, missed) => {
          const one = (): void => {
            const result = search();
            if (result === undefined && !isOver) return;
            looking.delete(one);
            if (result === undefined)
              missed(new Error(`the stream ended before ${what}:\n${text.slice(0, 2000)}`));
            else found(result);
          };
          looking.add(one);
          one();
        });
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        waitFor: (pattern) => find(() => pattern.exec(text) ?? undefined, String(pattern)),
        answerTo: (id) =>
          find(
            () => messagesIn(text).find((message) => !('method' in message) && message.id === id),
            `the answer to ${id}`,
          ),
        ended,
        leave: () => request.destroy(),
      });
    });
    request.end(body);
  });
}

/** The JSON-RPC messages of whole events. */
export function messagesIn(text: string): Record<string, unknown>[] {
  return text
    .slice(0, text.lastIndexOf('\n\n') + 1)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>);
}
