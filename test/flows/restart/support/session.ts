import { type EventReader, readEvents } from '../../../mcp/support/event-reader.ts';
import type { Restartable } from './restartable.ts';

/** A JSON-RPC message. */
export type Body = Record<string, unknown>;

/** A session of 2025-11-25, spoken by hand. */
export interface RawSession {
  id: string;
  /** Sends a message; gives the answer as it came. */
  post(body: Body): Promise<Response>;
  /** Calls a tool that answers at once; gives the message that answers it. */
  call(name: string, args: Body): Promise<Body>;
  /** Sends a message that is answered on a stream, and reads it. */
  postForStream(body: Body): Promise<EventReader>;
  /** Opens the session's own stream, or goes on behind an event. */
  listen(lastEventId?: string): Promise<EventReader>;
}

/** A request of a tool's call. */
export function toolCall(id: number, name: string, args: Body, _meta: Body = {}): Body {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta } };
}

/** Opens a session. */
export async function openSession({
  mcpUrl,
  token,
}: Pick<Restartable, 'mcpUrl' | 'token'>): Promise<RawSession> {
  const bearer = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
  let headers: Record<string, string> = { ...bearer, 'content-type': 'application/json' };
  const post = (body: Body, signal?: AbortSignal): Promise<Response> =>
    fetch(mcpUrl, { method: 'POST', headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  await opened.text();
  const id = opened.headers.get('mcp-session-id') ?? '';
  headers = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let lastId = 100;
  return {
    id,
    post,
    async call(name, args) {
      const response = await post(toolCall(++lastId, name, args));
      return (await response.json()) as Body;
    },
    postForStream: (body) => readEvents((signal) => post(body, signal)),
    listen: (lastEventId) =>
      readEvents((signal) => {
        const resumed = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
        const { 'content-type': _, ...rest } = headers;
        return fetch(mcpUrl, { headers: { ...rest, accept: 'text/event-stream', ...resumed }, signal });
      }),
  };
}
