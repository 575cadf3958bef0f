import { afterAll, beforeAll } from 'vitest';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/postgres.ts';

/** Starts a PostgreSQL server for the tests of a file. */
export function usePostgres(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.close());
  return () => {
    if (!server) throw new Error('the server is not started yet');
    return server;
  };
}

/** Opens a new database of a server. */
export async function openNewDatabase(server: PostgresServer): Promise<Storage> {
  return openPostgresStorage({ url: await server.createDatabase() });
}
