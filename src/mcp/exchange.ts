import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { AuthInfo } from '../oauth/auth-info.ts';

/** One HTTP request at the MCP endpoint, and who sent it. */
export interface Exchange {
  method: string;
  headers: IncomingHttpHeaders;
  /** The unread body. */
  body: Readable;
  authInfo: AuthInfo;
  /** Aborts when the client is gone. */
  gone: AbortSignal;
}

/** The answer, and what to do once its last byte is out or the client is gone. */
export interface Answer {
  response: Response;
  ended?: () => void;
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
 * Gives an MCP server the request without its credentials (T-105).
 * @param url the endpoint's public URL
 * @param signal aborts the request; none where a lost connection means nothing
 */
export function toWebRequest({ method, headers }: Exchange, url: URL, signal?: AbortSignal): Request {
  const passed = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (!keptAtTheGate.has(name) && value !== undefined) passed.set(name, String(value));
  }
  // The SDK looks for both types by name; what the client takes was checked, wildcards included.
  passed.set('accept', 'application/json, text/event-stream');
  return new Request(url, { method, headers: passed, ...(signal ? { signal } : {}) });
}
