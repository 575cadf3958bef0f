import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, serverOwner } from '../../support/postgres/postgres.ts';

/** Starts a server again as a standby. `SELECT pg_promote()` ends the failover: the server has another timeline then. */
export async function restartAsStandby(server: PostgresServer): Promise<void> {
  const [{ data_directory: data }] = (await server.query('SHOW data_directory')) as [
    { data_directory: string },
  ];
  await server.stop();
  const signal = join(data, 'standby.signal');
  writeFileSync(signal, '');
  const owner = serverOwner();
  if (owner) chownSync(signal, owner.uid, owner.gid);
  await server.start();
}
