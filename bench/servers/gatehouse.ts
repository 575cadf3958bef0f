// Gatehouse as `gatehouse serve` runs it: SQLite in a folder, the log at its default level, its scheduling, one tool; or
// what `BACKEND` says (JSON) in the place of its own server. `POSTGRES` is the URL of a database in the place of SQLite; with
// `PUBLIC_URL` it is one of several nodes on it.
import { createServer } from 'node:http';
import { McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { useBatchScheduling } from '../../src/cli/batch-scheduling.ts';
import { createAdministration, createGatehouse, type GatehouseOptions } from '../../src/index.ts';
import { openPostgresInstallation } from '../../src/storage/postgres/index.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';
import { person } from '../person.ts';

const scheduled = useBatchScheduling();
const { BACKEND: backend, POSTGRES: postgres, PUBLIC_URL: publicUrl, PORT } = process.env;
const port = Number(PORT);
const folder = process.env.FOLDER ?? '';
const data =
  postgres === undefined
    ? await openDataFolder(folder)
    : await openPostgresInstallation({ postgres, poolSize: 10, pooled: false }, folder, {});
const { accounts } = createAdministration(data);
if ((await accounts.list()).length === 0) await accounts.add(person.email, person.password);

// All requests of the bench come from one address, and all tokens go to one account.
const beyondTheLoad = { times: 1_000_000_000, windowSeconds: 60 };

const own: GatehouseOptions['server'] = {
  name: 'Echo',
  sharing: 'shared',
  create() {
    const options = { supportedProtocolVersions: ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS] };
    const server = new McpServer({ name: 'echo', version: '1.0.0' }, options);
    server.registerTool(
      'echo',
      { description: 'echo', inputSchema: z.object({ text: z.string() }) },
      async ({ text }) => ({ content: [{ type: 'text', text }] }),
    );
    return server;
  },
};

await scheduled;
const gatehouse = await createGatehouse({
  publicUrl: publicUrl ?? `http://127.0.0.1:${port}`,
  ...(publicUrl === undefined ? {} : { cluster: { port: 0 } }),
  ...data,
  tokens: { accessTokenSeconds: 86_400 },
  limits: {
    registrations: beyondTheLoad,
    authorizations: beyondTheLoad,
    tokensPerGrant: beyondTheLoad,
    refreshesWithoutCall: beyondTheLoad,
    requests: beyondTheLoad,
    // One account calls one tool all the time.
    toolCalls: { times: 0 },
  },
  mcp: {
    sessions: process.env.SESSIONS === 'none' ? 'none' : 'stored',
    maxSessions: 100_000,
    maxSessionsPerPrincipal: 100_000,
  },
  ...(backend === undefined
    ? { server: own }
    : { backend: JSON.parse(backend) as GatehouseOptions['backend'] }),
});
const server = createServer();
gatehouse.attach(server);
server.listen(port, '127.0.0.1', 4096);
process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => globalThis.gc?.());
