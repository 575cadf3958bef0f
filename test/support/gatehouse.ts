import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAdministration,
  createGatehouse,
  type Gatehouse,
  type GatehouseOptions,
} from '../../src/index.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { DataFolder } from '../../src/storage/sqlite/index.ts';
import type { TestCertificate } from './certificate.ts';
import { openState, testStorage } from './test-storage.ts';

/** A real gatehouse, listening on loopback over a data folder of its own. */
export interface RunningGatehouse {
  url: string;
  mcpUrl: string;
  /** Where it really listens, whatever its public URL says. */
  listensAt: string;
  folder: string;
  /** Every line it logged. */
  log: string[];
  administration: ReturnType<typeof createAdministration>;
  /** Serves what is counted. */
  serveMetrics: RequestListener;
  storage: DataFolder['storage'];
  keys: DataFolder['keys'];
  keyRing: DataFolder['keyRing'];
  replaceRoutes: Gatehouse['replaceRoutes'];
  /** @param patienceMs see `Gatehouse.close` */
  stop(patienceMs?: number): Promise<void>;
}

/** The account every test gatehouse has. */
export const ada = { email: 'ada@example.com', password: 'correct horse battery staple' };

/** How one is started, over its defaults. */
type StartOptions = Partial<GatehouseOptions> & {
  /** Puts it under a path. */
  publicPath?: string;
  folder?: string;
  port?: number;
  /** The opened state of an installation that is not in the folder. */
  installation?: DataFolder;
  /** Has it speak TLS. */
  certificate?: TestCertificate;
};

/**
 * Time after which a node has certainly looked at what the other one has committed, in milliseconds: it looks ten times a
 * second.
 */
const learnedAfterMs = 200;

/**
 * Deals the requests of a server out to two nodes at random, as a balancer without stickiness does. The bytes of a request
 * reach its node as the client sent them. A request waits until its node knows what the other one, or an operator's
 * command at the first one, has committed before: flows say what holds then. How soon that is, is in test/flows/cluster.
 */
function dealOut(server: Server, [first, second]: readonly [Server, Server]): void {
  const { keepAliveTimeout, requestTimeout } = first;
  Object.assign(server, { keepAliveTimeout, requestTimeout });
  let atSecond = 0;
  let secondIsQuietSince = Number.NEGATIVE_INFINITY;
  server.on('request', (...exchange) => {
    if (Math.random() < 0.5) {
      const waitMs = atSecond > 0 ? learnedAfterMs : secondIsQuietSince + learnedAfterMs - performance.now();
      if (waitMs > 0) setTimeout(() => first.emit('request', ...exchange), waitMs);
      else first.emit('request', ...exchange);
      return;
    }
    atSecond++;
    exchange[1].once('close', () => {
      atSecond--;
      secondIsQuietSince = performance.now();
    });
    setTimeout(() => second.emit('request', ...exchange), learnedAfterMs);
  });
}

/** Returns whether two nodes can have the server: an object is connected once. */
function mayStartTwice({ server }: StartOptions): boolean {
  return typeof server !== 'object' || !('connect' in server || 'mcp' in server);
}

/**
 * Starts one. It announces documents of clients without a look whether they can be fetched, unless a test says otherwise. Over http it trusts the other ports of its host, unless a test says otherwise: its logins then are as they are
 * over https, where no other server gets the cookies. With the storage `cluster` it is two nodes; what it gives of its state is
 * that of the first.
 */
export async function startGatehouse(options: StartOptions = {}): Promise<RunningGatehouse> {
  const { publicPath = '', folder: given, port: wanted = 0, certificate, dangerously, ...rest } = options;
  const { installation, ...settings } = rest;
  const scheme = certificate ? 'https' : 'http';
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'gatehouse-')));
  const data = installation ?? (await openState(folder));
  const isCluster =
    testStorage === 'cluster' && !installation && !settings.storage && mayStartTwice(settings);
  const states = isCluster ? [data, await openState(folder)] : [data];
  const administration = createAdministration(data);
  if ((await administration.accounts.list()).length === 0)
    await administration.accounts.add(ada.email, ada.password);
  const server = certificate ? createSecureServer(certificate) : createServer();
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const log: string[] = [];
  const publicUrl = settings.publicUrl ?? `${scheme}://localhost:${port}${publicPath}`;
  const startNode = (state: DataFolder): Promise<Gatehouse> =>
    createGatehouse({
      logger: createLogger('debug', (line) => log.push(line)),
      ...state,
      ...(isCluster ? { cluster: { port: 0 } } : {}),
      ...settings,
      clients: {
        ...settings.clients,
        metadataDocuments: { enabled: true, ...settings.clients?.metadataDocuments },
      },
      publicUrl,
      dangerously: { trustOtherPorts: publicUrl.startsWith('http:'), ...dangerously },
    });
  const gatehouse = await startNode(data);
  const nodes = [gatehouse];
  if (!isCluster) gatehouse.attach(server);
  else {
    nodes.push(await startNode(states[1] ?? data));
    const [first, second] = [createServer(), createServer()];
    nodes[0]?.attach(first);
    nodes[1]?.attach(second);
    dealOut(server, [first, second]);
  }
  return {
    url: gatehouse.issuer,
    mcpUrl: gatehouse.mcpUrl,
    listensAt: `${scheme}://127.0.0.1:${port}`,
    folder,
    log,
    administration,
    serveMetrics: gatehouse.serveMetrics,
    replaceRoutes(routes) {
      const [change] = nodes.map((node) => node.replaceRoutes(routes));
      if (!change) throw new Error('there is no node');
      return change;
    },
    ...data,
    async stop(patienceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (patienceMs) server.closeIdleConnections();
      else server.closeAllConnections();
      await Promise.all(nodes.map((node) => node.close(patienceMs)));
      server.closeAllConnections();
      await closed;
      await Promise.all(states.map(({ storage }) => storage.close()));
      if (given === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
