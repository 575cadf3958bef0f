import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createGatehouse } from '../../src/index.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';

/** A gatehouse behind what reads the bodies of JSON, as `express.json()` does, and looks at those of forms. */
async function startBehind() {
  const folder = await openDataFolder(testFolder());
  const log: string[] = [];
  const gatehouse = await createGatehouse({
    publicUrl: 'http://localhost:4000',
    ...folder,
    logger: createLogger('warn', (line) => log.push(line)),
  });
  const callback = gatehouse.app.callback();
  const isJson = ({ headers }: IncomingMessage): boolean => headers['content-type'] === 'application/json';
  const server = createServer(async (request, response) => {
    if (isJson(request)) await text(request);
    else if (request.method === 'POST') {
      await once(request, 'readable');
      request.unshift(request.read());
    }
    void callback(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await gatehouse.close();
    await folder.storage.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (path: string, type: string, body: string) =>
    fetch(`${origin}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
  return { log, post, origin };
}

it('a request whose body was read in front is answered with who has to mend that, and the log says so once', async () => {
  const { log, post } = await startBehind();
  const said = expect.stringContaining('put the gatehouse before middleware that reads bodies');
  for (const path of ['/register', '/mcp']) {
    const answer = await post(path, 'application/json', '{"redirect_uris":["http://localhost/cb"]}');
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { error: 'server_error', error_description: said },
    ]);
  }
  const errors = log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  expect(errors).toMatchObject([{ level: 'error', path: '/register', msg: said }]);
});

it('requests whose body was put back, and those without a body, are served', async () => {
  const { post, origin } = await startBehind();
  const token = await post('/token', 'application/x-www-form-urlencoded', 'grant_type=none&client_id=none');
  expect(await token.json()).toMatchObject({ error: 'invalid_client' });
  const empty = await post('/mcp', 'application/json', '');
  expect(empty.status).toBe(401);
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
});
