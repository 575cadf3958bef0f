import { createMcpHandler, McpServer, Server } from '@modelcontextprotocol/server';
import type { Logger } from '../observability/logger.ts';
import { callerOf, toSdkAuthInfo } from './caller.ts';
import { type Answer, type Exchange, toWebRequest } from './exchange.ts';
import { answerInTime } from './late-stream.ts';
import type { Posted } from './legacy.ts';
import type { Refusal } from './refusal.ts';
import type { McpServerSource } from './server-source.ts';

/** Serves 2026-07-28: each request by itself, without sessions. */
export interface ModernEra {
  /** Serves a request; a client that goes away cancels it (B5-14). */
  serve(exchange: Exchange, posted: Posted): Promise<Answer | Refusal>;
  close(): Promise<void>;
}

/** What the serving of single requests is made of. */
export interface ModernEraOptions {
  source: McpServerSource;
  /** The endpoint's public URL. */
  url: URL;
  resourceMetadataUrl: string;
  keepAliveMs: number;
  logger: Logger;
}

/**
 * Creates the serving of 2026-07-28 over the SDK's handler. A server that is not of the SDK's version 2 cannot speak
 * this revision; its clients are told to initialize an older one.
 * @see MCP 2026-07-28 streamable HTTP
 */
export function createModernEra(options: ModernEraOptions): ModernEra {
  const { source, url, resourceMetadataUrl, keepAliveMs, logger } = options;
  const notServed = new WeakSet<Request>();

  const handler = createMcpHandler(
    async ({ authInfo, requestInfo }) => {
      const caller = callerOf({ http: { ...(authInfo ? { authInfo } : {}) } });
      const server = await source({ era: 'modern', authInfo: caller });
      if (server instanceof McpServer || server instanceof Server) return server;
      if (requestInfo) notServed.add(requestInfo);
      throw new Error('This MCP server does not speak protocol revision 2026-07-28.');
    },
    {
      legacy: 'reject',
      keepAliveMs,
      onerror: (error) => logger.debug({ err: error }, 'an MCP request was not served'),
    },
  );

  return {
    async serve(exchange, posted) {
      const request = toWebRequest(exchange, url, exchange.gone);
      const answer = handler.fetch(request, {
        authInfo: toSdkAuthInfo(exchange.authInfo, resourceMetadataUrl),
        parsedBody: posted.value,
      });
      const response = await answerInTime(answer, keepAliveMs);
      const [first] = posted.messages.requests;
      return notServed.has(request)
        ? {
            reason: 'revision_not_served',
            data: { supported: legacyRevisions },
            ...(first ? { id: first.id } : {}),
          }
        : { response };
    },
    close: () => handler.close(),
  };
}

const legacyRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
