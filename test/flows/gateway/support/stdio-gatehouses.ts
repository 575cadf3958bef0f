// Started as a process of its own: gatehouses over one data folder before the same program, one for each way to share
// its processes. Prints where they listen as JSON. Arguments: the data folder, and how many processes each may have.
import { createGatehouse, type GatehouseOptions } from '../../../../src/index.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { openState } from '../../../support/test-storage.ts';
import { makeEchoV2 } from '../../crosstalk/support/echo-server.ts';
import { listen } from '../../crosstalk/support/listen.ts';

const many = { times: 100_000 };
const [folder = '', maxProcesses] = process.argv.slice(2);
const data = await openState(folder);

/**
 * Tokens are of one issuer, so all are named by the address of the first, at which people log in; each is reached at its
 * own port. The first has no program, so that the list of tools on its consent page starts none.
 */
let publicUrl: string | undefined;

async function start(served: Pick<GatehouseOptions, 'server' | 'routes'>): Promise<number> {
  const { server, port } = await listen();
  publicUrl ??= `http://localhost:${port}`;
  const gatehouse = await createGatehouse({
    ...data,
    ...served,
    publicUrl,
    limits: { registrations: many, authorizations: many, loginsPerAddress: many, toolCalls: { times: 0 } },
    logger: createLogger('warn'),
  });
  gatehouse.attach(server);
  return port;
}

await start({ server: { name: 'Door', create: ({ era }) => makeEchoV2(era), sharing: 'shared' } });
const ports: Record<string, number> = {};
for (const sharing of ['session', 'account', 'shared'] as const)
  ports[sharing] = await start({
    routes: {
      plain: {
        path: '/',
        name: 'Plain',
        backend: {
          ...nodeProgram('test/support/backend/plain.ts', 'sound', '$HOME; echo `id` "\'&|'),
          env: ['BACKEND_MARK'],
          process: sharing,
          maxProcesses: Number(maxProcesses),
          idleSeconds: sharing === 'session' ? 3600 : 3,
        },
        // All crash at once here, which the breaker is there to stop.
        policy: { breaker: { failures: 1000 } },
      },
    },
  });
process.stdout.write(`${JSON.stringify({ publicUrl, ports })}\n`);
