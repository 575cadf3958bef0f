// The floor of sessions and streams: node:http that gives out an id and keeps an open answer for each.
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';

const streams = new Map<string, ServerResponse | undefined>();
createServer((request, response) => {
  const named = request.headers['mcp-session-id'];
  const id = named === undefined ? randomUUID() : String(named);
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    streams.set(id, response);
    return;
  }
  request.resume().on('end', () => {
    if (!streams.has(id)) streams.set(id, undefined);
    response
      .writeHead(named === undefined ? 200 : 202, { 'mcp-session-id': id })
      .end(named === undefined ? '{}' : undefined);
  });
}).listen(Number(process.env.PORT), '127.0.0.1', 4096);
process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => globalThis.gc?.());
