import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { echoSource } from '../../../support/backend/echo-source.ts';

/** Servers of all transports over HTTP that give back the source text of what they are called with. */
export interface EchoServers {
  /** `http` and `stream` are Streamable HTTP that answers with JSON, or with events. */
  url(kind: 'http' | 'stream' | 'modern' | 'sse' | 'rest'): string;
  stop(): Promise<void>;
}

/** Starts them on loopback. */
export async function startEchoServers(): Promise<EchoServers> {
  const streams = new Map<string, ServerResponse>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://echo');
    if (pathname === '/sse' && request.method === 'GET') {
      const key = randomUUID();
      streams.set(key, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /posts?key=${key}\n\n`);
      return;
    }
    if (request.method !== 'POST' || pathname === '/sse') {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const answer = echoSource(text, pathname === '/modern' ? 'modern' : 'legacy');
    const token = /"progressToken":("[^"]*"|[-+.\deE]+)/.exec(text)?.[1];
    const progress =
      token === undefined
        ? ''
        : `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}\n\n`;
    if (pathname === '/posts') {
      response.writeHead(202).end();
      if (answer !== undefined)
        streams.get(searchParams.get('key') ?? '')?.write(`${progress}data: ${answer}\n\n`);
    } else if (answer === undefined) response.writeHead(202).end();
    else if (pathname === '/stream')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${progress}data: ${answer}\n\n`);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  };
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (kind) => `http://127.0.0.1:${port}/${kind}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
