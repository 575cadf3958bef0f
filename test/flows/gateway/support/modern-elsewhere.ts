import type { IncomingHttpHeaders } from 'node:http';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createAskingServer, type Memory } from '../../../support/backend/asking-server.ts';
import { serveFetch } from '../../../support/serve-fetch.ts';

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
  const { url, cut, stop } = await serveFetch((request, { body, incoming }) => {
    const { method = request.method, id, params = {} } = body === '' ? {} : JSON.parse(body);
    const one = { method, id, params, headers: incoming.headers };
    received.push(one);
    return instead?.(one) ?? handler.fetch(request);
  });
  return {
    url,
    memory,
    received,
    instead(answer) {
      instead = answer;
    },
    serve(mode) {
      handler = make(mode);
    },
    cut,
    toolsChanged: () => handler.notify.toolsChanged(),
    async stop() {
      await handler.close();
      await stop();
    },
  };
}
