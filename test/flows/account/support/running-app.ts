import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningGatehouse } from '../../../support/gatehouse.ts';
import { type OpenStream, openStream } from '../../attacks/support/stream.ts';
import { makeSlowServer } from '../../restart/support/slow-server.ts';

/** An MCP server with a tool that takes its time. */
export const slowServer = {
  create: () => makeSlowServer(join(mkdtempSync(join(tmpdir(), 'gatehouse-runs-')), 'runs')),
  scopes: { 'notes:read': 'Read.', 'notes:write': 'Write.' },
};

/** An app that is at work: a session, its own stream open, a call running. */
export interface RunningApp {
  session: string;
  stream: OpenStream;
  call: OpenStream;
}

/** Begins a session of 2025-11-25 with an open stream and a call of the slow tool. */
export async function startApp(gatehouse: RunningGatehouse, accessToken: string): Promise<RunningApp> {
  const headers = {
    authorization: `Bearer ${accessToken}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (body: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const opened = await post({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  const session = opened.headers.get('mcp-session-id') ?? '';
  const inSession = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  await post({ method: 'notifications/initialized' }, inSession);
  const path = new URL(gatehouse.mcpUrl).pathname;
  const stream = await openStream(gatehouse.listensAt, path, {
    host: new URL(gatehouse.url).host,
    ...headers,
    accept: 'text/event-stream',
    ...inSession,
  });
  const slow = { name: 'slow', arguments: { label: 'long', ms: 60_000 }, _meta: { progressToken: 'p' } };
  const call = await openStream(
    gatehouse.listensAt,
    path,
    { host: new URL(gatehouse.url).host, ...headers, ...inSession },
    {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: slow }),
    },
  );
  return { session, stream, call };
}
