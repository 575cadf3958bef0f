// Started as a process of its own, as a library user's program: a gatehouse with an own server over a data folder.
// Arguments: the data folder, the port (0 for any), `each` or `shared`, and for how long running calls may go on when it
// is asked to stop, in milliseconds. Prints its port as JSON.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGatehouse } from '../../../../src/index.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { openState } from '../../../support/test-storage.ts';
import { makeSlowServer } from './slow-server.ts';

const [folder = '', wanted = '0', sharing = 'each', patienceMs = '0', publicUrl] = process.argv.slice(2);
const data = await openState(folder);
// Until it serves: on PostgreSQL it waits until the lease of a killed one has ended.
const starting: RequestListener = (_request, response) => void response.writeHead(503).end();
const server = createServer(starting);
await new Promise<void>((resolve) => server.listen(Number(wanted), '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const gatehouse = await createGatehouse({
  ...data,
  publicUrl: publicUrl ?? `http://localhost:${port}`,
  server: {
    create: () => makeSlowServer(join(folder, 'runs')),
    sharing: sharing === 'shared' ? 'shared' : 'each',
  },
  logger: createLogger('warn'),
});
server.off('request', starting);
gatehouse.attach(server);
process.stdout.write(`${JSON.stringify({ port })}\n`);

process.once('SIGTERM', async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  await gatehouse.close(Number(patienceMs));
  await closed;
  clearInterval(idle);
  await data.storage.close();
});
