import { createServer } from 'node:http';

/** Where this peer listens; the MCP endpoint is `/mcp` there. */
export const port = Number(process.env.PORT);

/** Serves a fetch handler on 127.0.0.1, and says where its MCP server is. */
export function listen(origin: string, handle: (request: Request) => Promise<Response>): void {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', async () => {
      try {
        const { method = 'GET', headers } = incoming;
        const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
        const request = new Request(origin + incoming.url, { method, headers: headers as HeadersInit, body });
        const answer = await handle(request);
        for (const [name, value] of answer.headers)
          if (name !== 'set-cookie') outgoing.setHeader(name, value);
        const cookies = answer.headers.getSetCookie();
        if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies);
        outgoing.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
      } catch (error) {
        console.error(error);
        outgoing.writeHead(500).end();
      }
    });
  });
  server.listen(port, '127.0.0.1', () => console.log(`${origin}/mcp`));
}
