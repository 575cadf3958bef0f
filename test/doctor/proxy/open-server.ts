import type { ServerResponse } from 'node:http';
import type { Finding } from '../../../src/doctor/check.ts';
import type { ProxyOptions } from '../../../src/doctor/proxy/mcp-caller.ts';
import { proxyChecks } from '../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../support/examine.ts';
import { type Fault, startServer, type TestServer } from '../support/server.ts';

/**
 * An MCP endpoint that asks for no login, with sessions and a stream, as one sees it through a proxy.
 * @param stream writes the stream; its first byte at once unless told
 */
export function openMcp(stream: (response: ServerResponse) => void = soundStream): Fault {
  return (server) => {
    const refused = (status: number, message: string) => ({
      status,
      json: { jsonrpc: '2.0', id: null, error: { code: -32000, message } },
    });
    server.routes['POST /mcp'] = ({ headers, body }) => {
      const { id, method } = JSON.parse(body) as { id?: unknown; method?: string };
      const session = headers['mcp-session-id'];
      if (method === 'initialize')
        return {
          headers: { 'mcp-session-id': 'one' },
          json: { jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25' } },
        };
      if (session === undefined) return refused(400, 'no session');
      if (session !== 'one') return refused(404, 'no such session');
      if (headers['mcp-protocol-version'] === '1900-01-01') return refused(400, 'no such revision');
      return id === undefined ? { status: 202 } : { json: { jsonrpc: '2.0', id, result: {} } };
    };
    server.routes['GET /mcp'] = ({ headers }) => {
      if (headers['mcp-session-id'] === undefined) return refused(400, 'no session');
      return headers['last-event-id'] === undefined ? { raw: stream } : refused(400, 'no such event');
    };
    server.routes['DELETE /mcp'] = () => ({ status: 204 });
  };
}

function soundStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': open\n\n');
}

/** What one check says of a server with one fault. */
export async function seen(
  id: string,
  fault?: Fault,
  options: ProxyOptions & { url?: (server: TestServer) => string } = {},
): Promise<Finding> {
  const { url = (server) => server.url, ...rest } = options;
  const server = await startServer(fault === undefined ? {} : { fault });
  const report = await examined(url(server), proxyChecks({ idleSeconds: 1, ...rest }), { only: [id] });
  return report.finding(id);
}
