import { createServer } from 'node:http';
import Koa from 'koa';
import { createGatehouse } from '../../../src/index.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';

export async function serve(port: number, data: string) {
  const folder = await openDataFolder(data);
  const gatehouse = await createGatehouse({ publicUrl: `http://localhost:${port}`, ...folder });
  const answer = gatehouse.app.callback();

  const app = new Koa();
  app.use(async (ctx, next) => {
    if (ctx.path === '/hello') ctx.body = 'Hello';
    else await next();
  });
  app.use((ctx) => {
    ctx.respond = false; // the gatehouse answers, 404 included
    return answer(ctx.req, ctx.res);
  });
  const server = createServer();
  server.on('request', app.callback()).listen(port, '127.0.0.1');

  return async () => {
    await gatehouse.close(8000); // calls that run may end by themselves for so long
    server.close();
    await folder.storage.close(); // it is yours: the gatehouse leaves it open
  };
}
