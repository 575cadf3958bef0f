// Started as a process of its own: a gatehouse with the echo server over a data folder. Prints its port as JSON; for
// each line on its standard input it prints how much memory is in use after garbage collection, in bytes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { createGatehouse } from '../../../../src/index.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { collectGarbage } from '../../../support/garbage.ts';
import { openState } from '../../../support/test-storage.ts';
import { makeEchoV2 } from './echo-server.ts';

const [folder = '', sharing] = process.argv.slice(2);
const data = await openState(folder);
const server = createServer();
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const gatehouse = await createGatehouse({
  ...data,
  publicUrl: `http://localhost:${port}`,
  server: { create: ({ era }) => makeEchoV2(era), sharing: sharing === 'each' ? 'each' : 'shared' },
  limits: { toolCalls: { times: 0 } },
  logger: createLogger('warn'),
});
gatehouse.attach(server);
process.stdout.write(`${JSON.stringify({ port })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  collectGarbage();
  collectGarbage();
  process.stdout.write(`${JSON.stringify({ line, heapUsed: process.memoryUsage().heapUsed })}\n`);
});
