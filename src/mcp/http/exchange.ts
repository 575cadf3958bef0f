import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Reply } from './reply.ts';

/** One HTTP request at an MCP endpoint, who sent it, and where its answer goes. */
export interface Exchange {
  method: string;
  headers: IncomingHttpHeaders;
  /** The query string, without `?`. */
  query: string;
  /** The unread body. */
  body: Readable;
  authInfo: AuthInfo;
  reply: Reply;
}

/** Headers that stay at the gate: they carry credentials, or frame a body that was read already. */
const keptAtTheGate = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'content-length',
  'transfer-encoding',
  'connection',
]);

/**
 * Returns an MCP server the request without its credentials and its body (T-105).
 * @param url the endpoint's public URL
 */
export function toWebRequest({ method, headers }: Exchange, url: URL): Request {
  const passed = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!keptAtTheGate.has(name) && value !== undefined) passed.set(name, String(value));
  }
  return new Request(url, { method, headers: passed });
}
