import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createAskingServer, type Memory } from '../../../support/backend/asking-server.ts';

/** What a request brought. */
export interface Received {
  method: string;
  id: unknown;
  params: Record<string, unknown>;
  headers: IncomingHttpHeaders;
}

/** A real server of SDK v2 on loopback, reached over Streamable HTTP. */
export interface ModernElsewhere {
  url: string;
  memory: Memory;
  /** Method of the message, or of HTTP where there is none, and headers of every request. */
  received: Received[];
  /** Has the server answer each POST in another way, until it is called without one. */
  instead(answer?: (received: Received) => Response | 'cut' | undefined): void;
  /** Changes what a legacy message is answered with. */
  serve(legacy: 'reject' | 'stateless'): void;
  /** Ends every connection. */
  cut(): void;
  toolsChanged(): void;
  stop(): Promise<void>;
}

/**
 * Starts it.
 * @param legacy whether it speaks 2026-07-28 alone, or the older revisions without sessions, too
 */
export async function serveModern(legacy: 'reject' | 'stateless' = 'reject'): Promise<ModernElsewhere> {
  const memory: Memory = { ran: [], aborted: [] };
  const received: Received[] = [];
  let instead: Parameters<ModernElsewhere['instead']>[0];
  const make = (mode: typeof legacy) => {
    const made = createMcpHandler(
      () =>
        createAskingServer({
          memory,
          announce: {
            toolsChanged: () => handler.notify.toolsChanged(),
            resourceUpdated: (uri) => handler.notify.resourceUpdated(uri),
          },
          isModernOnly: mode === 'reject',
        }),
      { legacy: mode },
    );
    return made;
  };
  let handler = make(legacy);
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    const { method = String(incoming.method), id, params = {} } = body === '' ? {} : JSON.parse(body);
    const one = { method, id, params, headers: incoming.headers };
    received.push(one);
    const other = instead?.(one);
    if (other === 'cut') {
      outgoing.destroy();
      return;
    }
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const response =
      other ??
      (await handler.fetch(
        new Request(`http://127.0.0.1${incoming.url}`, {
          method: incoming.method ?? 'GET',
          headers: incoming.headers as Record<string, string>,
          ...(body === '' ? {} : { body }),
          signal: gone.signal,
        }),
      ));
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
    memory,
    received,
    instead(answer) {
      instead = answer;
    },
    serve(mode) {
      handler = make(mode);
    },
    cut: () => server.closeAllConnections(),
    toolsChanged: () => handler.notify.toolsChanged(),
    async stop() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
