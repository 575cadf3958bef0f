import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
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
import { type DataFolder, openDataFolder } from '../../src/storage/sqlite/index.ts';
import type { TestCertificate } from './certificate.ts';

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
  stop(): Promise<void>;
}

/**
 * Opens the state of a gatehouse: SQLite in the folder, or with GATEHOUSE_TEST_STORAGE=postgres a database of the folder's
 * own on the shared server.
 */
async function openState(folder: string): Promise<DataFolder> {
  if (process.env.GATEHOUSE_TEST_STORAGE !== 'postgres') return openDataFolder(folder);
  const [{ createDatabaseAt, sharedVariable }, { openPostgresInstallation }] = await Promise.all([
    import('./postgres/postgres.ts'),
    import('../../src/storage/postgres/index.ts'),
  ]);
  const file = join(folder, 'database-url');
  if (!existsSync(file)) writeFileSync(file, await createDatabaseAt(process.env[sharedVariable] ?? ''));
  const place = { postgres: readFileSync(file, 'utf8'), poolSize: 5, pooled: false };
  return openPostgresInstallation(place, folder, {});
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
 * Starts one. It announces documents of clients without a look whether they can be fetched, unless a test says otherwise. Over http it trusts the other ports of its host, unless a test says otherwise: its logins then are as they are
 * over https, where no other server gets the cookies.
 */
export async function startGatehouse(options: StartOptions = {}): Promise<RunningGatehouse> {
  const { publicPath = '', folder: given, port: wanted = 0, certificate, dangerously, ...rest } = options;
  const { installation, ...settings } = rest;
  const scheme = certificate ? 'https' : 'http';
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'gatehouse-')));
  const data = installation ?? (await openState(folder));
  const administration = createAdministration(data);
  if ((await administration.accounts.list()).length === 0)
    await administration.accounts.add(ada.email, ada.password);
  const server = certificate ? createSecureServer(certificate) : createServer();
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const log: string[] = [];
  const publicUrl = settings.publicUrl ?? `${scheme}://localhost:${port}${publicPath}`;
  const gatehouse = await createGatehouse({
    logger: createLogger('debug', (line) => log.push(line)),
    ...data,
    ...settings,
    clients: {
      ...settings.clients,
      metadataDocuments: { enabled: true, ...settings.clients?.metadataDocuments },
    },
    publicUrl,
    dangerously: { trustOtherPorts: publicUrl.startsWith('http:'), ...dangerously },
  });
  gatehouse.attach(server);
  return {
    url: gatehouse.issuer,
    mcpUrl: gatehouse.mcpUrl,
    listensAt: `${scheme}://127.0.0.1:${port}`,
    folder,
    log,
    administration,
    serveMetrics: gatehouse.serveMetrics,
    replaceRoutes: gatehouse.replaceRoutes,
    ...data,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await gatehouse.close();
      await closed;
      await data.storage.close();
      if (given === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
