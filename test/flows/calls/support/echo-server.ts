import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type Asked, answerOf } from './answer.ts';

/** Starts an MCP server over Streamable HTTP, without sessions, whose tools work, report an error, or fail. */
export async function startEchoServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const answer = answerOf((await json(request)) as Asked);
    if (!answer) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
