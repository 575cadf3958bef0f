import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** A server on loopback. */
export interface FetchServer {
  url: string;
  /** Ends every connection. */
  cut(): void;
  stop(): Promise<void>;
}

/**
 * Serves what answers requests as `fetch` has them.
 * @param answer gets the request, whose signal says that its client has gone, and what it came as; `cut` ends its
 * connection without an answer
 */
export async function serveFetch(
  answer: (
    request: Request,
    came: { body: string; incoming: IncomingMessage },
  ) => Promise<Response | 'cut'> | Response | 'cut',
): Promise<FetchServer> {
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: incoming.headers as Record<string, string>,
      ...(body === '' ? {} : { body }),
      signal: gone.signal,
    });
    const response = await answer(request, { body, incoming });
    if (response === 'cut') {
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body)
      Readable.fromWeb(response.body as never)
        .on('error', () => outgoing.destroy())
        .pipe(outgoing);
    else outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    cut: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
