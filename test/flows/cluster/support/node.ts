// Started as a process of its own, as a library user's program: a node of an installation on PostgreSQL.
// Arguments: the address at which it listens, the port (0 for any), the public URL, and the file that takes a line for each
// run of the slow tool; without one it serves the echo server of the crosstalk. DATABASE_URL and MASTER_KEY are as of
// `gatehouse serve`. Prints its port as JSON.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGatehouse, type GatehouseOptions } from '../../../../src/index.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { openPostgresInstallation } from '../../../../src/storage/postgres/index.ts';
import { makeEchoV2 } from '../../crosstalk/support/echo-server.ts';
import { makeSlowServer } from '../../restart/support/slow-server.ts';

const [host = '', wanted = '0', publicUrl = '', runs] = process.argv.slice(2);
const data = await openPostgresInstallation(
  { postgres: { env: 'DATABASE_URL' }, masterKey: { env: 'MASTER_KEY' }, poolSize: 10, pooled: false },
  '',
  process.env,
);
const often = { times: 1_000_000, windowSeconds: 60 };
const server = createServer();
const own: GatehouseOptions['server'] =
  runs === undefined
    ? { name: 'Echo', create: ({ era }) => makeEchoV2(era), sharing: 'each' }
    : { name: 'Slow', create: () => makeSlowServer(runs), sharing: 'each' };
const gatehouse = await createGatehouse({
  ...data,
  publicUrl,
  cluster: { port: 0, host },
  server: own,
  limits: {
    ...{ registrations: often, authorizations: often, tokenFailures: often, requests: often },
    ...{ tokensPerGrant: often, refreshesWithoutCall: often, mcpRequests: often, toolCalls: { times: 0 } },
    ...{ loginsPerAccountAndAddress: often, loginsPerAccount: often, loginsPerAddress: often },
  },
  dangerously: { trustOtherPorts: true },
  logger: createLogger('warn'),
});
// Last: a server without a listener answers nobody.
gatehouse.attach(server);
await new Promise<void>((resolve) => server.listen(Number(wanted), host, 1024, resolve));
const { port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ port })}\n`);
process.once('SIGTERM', async () => {
  server.close();
  await gatehouse.close(0);
  server.closeAllConnections();
  await data.storage.close();
});
