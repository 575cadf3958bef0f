// Started as a process of its own: gatehouses over one data folder, one for each form of an MCP server and each way
// with sessions. Prints where they listen as JSON. Arguments: the data folder.
import { createGatehouse, type McpLike, type OwnServer } from '../../../../src/index.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { openState } from '../../../support/test-storage.ts';
import { makeEchoV1, makeEchoV2 } from './echo-server.ts';
import { type Doors, type ServerForm, serverForms } from './forms.ts';
import { listen } from './listen.ts';

const name = 'Echo';
const servers: Record<ServerForm, () => OwnServer> = {
  shared: () => ({ name, create: ({ era }) => makeEchoV2(era), sharing: 'shared' }),
  each: () => ({ name, create: ({ era }) => makeEchoV2(era), sharing: 'each' }),
  single: () => ({ name, mcp: makeEchoV2('legacy') }),
  'single v1': () => ({ name, mcp: makeEchoV1() as unknown as McpLike }),
  'each v1': () => ({ name, create: () => makeEchoV1() as unknown as McpLike, sharing: 'each' }),
};
const many = { times: 100_000 };
const [folder = ''] = process.argv.slice(2);
const data = await openState(folder);

/** Tokens are of one issuer, so all are named by the first one's address; each is reached at its own port. */
let publicUrl: string | undefined;

async function start(form: ServerForm, sessions: 'stored' | 'none'): Promise<number> {
  const { server, port } = await listen();
  publicUrl ??= `http://localhost:${port}`;
  const gatehouse = await createGatehouse({
    ...data,
    publicUrl,
    server: servers[form](),
    mcp: { sessions },
    limits: { registrations: many, authorizations: many, loginsPerAddress: many, toolCalls: { times: 0 } },
    logger: createLogger('warn'),
  });
  gatehouse.attach(server);
  return port;
}

const doors: Partial<Record<ServerForm, Doors>> = {};
for (const form of serverForms)
  doors[form] = { stored: await start(form, 'stored'), none: await start(form, 'none') };
process.stdout.write(`${JSON.stringify({ publicUrl, doors })}\n`);
