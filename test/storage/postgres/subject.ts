import pg from 'pg';
import { onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { PostgresServer } from '../../support/postgres/postgres.ts';

export { usePostgres } from '../../support/postgres/postgres.ts';

/** Opens a new database of a server. */
export async function openNewDatabase(server: PostgresServer): Promise<Storage> {
  return openPostgresStorage({ url: await server.createDatabase() });
}

/** Connects to a database beside the server, for the running test. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}
