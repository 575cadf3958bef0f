// The floor: bare Koa that reads the body and answers as the tool would, without any check.
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';

interface Call {
  id: number;
  params: { arguments: { text: string } };
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

const app = new Koa();
app.use(async (ctx) => {
  const { id, params } = JSON.parse(await readBody(ctx.req)) as Call;
  ctx.body = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: params.arguments.text }] } };
});
app.listen(Number(process.env.PORT), '127.0.0.1', 4096);
process.on('SIGTERM', () => process.exit(0));
