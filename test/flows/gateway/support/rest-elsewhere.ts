import type { IncomingMessage } from 'node:http';
import { listen } from './elsewhere.ts';

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

interface Asked {
  id?: number | string;
  method?: string;
  params?: { _meta?: object; protocolVersion?: string };
}

/** Serves a server that speaks Rest, with one tool, `seen`: says with which headers and `_meta` it was called. */
export async function serveRest() {
  const { origin, ...rest } = await listen(async (request, response) => {
    const { id, method, params } = (await readJson(request)) as Asked;
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const seen = { headers: request.headers, meta: params?._meta ?? {} };
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'rest', version: '1' },
      },
      'tools/list': { tools: [{ name: 'seen', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: JSON.stringify(seen) }] },
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method ?? ''] ?? {} }));
  });
  return { url: `${origin}/rest`, origin, ...rest };
}
