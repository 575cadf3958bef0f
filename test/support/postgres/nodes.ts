import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateMasterKey, parseMasterKey } from '../../../src/crypto/master-key.ts';
import {
  createAdministration,
  createGatehouse,
  type Gatehouse,
  type GatehouseOptions,
} from '../../../src/index.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { openPostgres } from '../../../src/storage/postgres/index.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { ada } from '../gatehouse.ts';

/** A node of an installation, listening on loopback. */
export interface Node {
  listensAt: string;
  /** Every line it logged. */
  log: string[];
}

/** Nodes on one database, behind a balancer that deals requests out in turns. */
export interface Nodes {
  /** The public URL, at which the balancer listens. */
  url: string;
  mcpUrl: string;
  nodes: [Node, Node];
  administration: ReturnType<typeof createAdministration>;
  stop(): Promise<void>;
}

interface StartedNode extends Node {
  server: Server;
  storage: Storage;
  administration: Nodes['administration'];
  gatehouse: Gatehouse;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function end(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

/** Passes each request on to the next target. */
function createBalancer(targets: readonly string[]): Server {
  let turn = 0;
  return createServer((incoming, answer) => {
    const target = targets[turn++ % targets.length] ?? '';
    const { method = 'GET', url = '/', headers } = incoming;
    const passed = request(target + url, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders);
      response.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    incoming.pipe(passed);
  });
}

/**
 * Starts two nodes on a database.
 * @param database URL of the database
 */
export async function startNodes(database: string, settings: Partial<GatehouseOptions> = {}): Promise<Nodes> {
  const masterKey = parseMasterKey(generateMasterKey());
  if (!masterKey) throw new Error('the master key cannot be read');
  const servers = [createServer(), createServer()];
  const places = await Promise.all(servers.map(listen));
  const balancer = createBalancer(places);
  const url = (await listen(balancer)).replace('127.0.0.1', 'localhost');
  const started: StartedNode[] = [];
  for (const [at, server] of servers.entries()) {
    const installation = await openPostgres({ url: database, masterKey: async () => masterKey });
    const administration = createAdministration(installation);
    if (at === 0) await administration.accounts.add(ada.email, ada.password);
    const log: string[] = [];
    const gatehouse = await createGatehouse({
      logger: createLogger('debug', (line) => log.push(line)),
      ...installation,
      ...settings,
      clients: { metadataDocuments: { enabled: true } },
      publicUrl: url,
      dangerously: { trustOtherPorts: true },
    });
    gatehouse.attach(server);
    const { storage } = installation;
    started.push({ server, storage, administration, gatehouse, listensAt: places[at] ?? '', log });
  }
  const [first, second] = started;
  if (!first || !second) throw new Error('two nodes were to start');
  return {
    url,
    mcpUrl: first.gatehouse.mcpUrl,
    nodes: [first, second],
    administration: first.administration,
    async stop() {
      await end(balancer);
      for (const { server, gatehouse, storage } of started) {
        await end(server);
        await gatehouse.close();
        await storage.close();
      }
    },
  };
}
