import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../../../src/storage/postgres/connection/migrate.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';

const server = usePostgres({ isOwn: true });

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('the schema', () => {
  it('is made once, also if several nodes start at the same moment (T-174)', async () => {
    const url = await server().createDatabase();
    await Promise.all(Array.from({ length: 5 }, () => migrate({ url })));
    const client = await connect(url);
    expect((await client.query('SELECT count(*)::int AS rows FROM schema_version')).rows).toEqual([
      { rows: 1 },
    ]);
    expect((await client.query('SELECT commits::int FROM commit_order')).rows).toEqual([{ commits: 0 }]);
  });

  it('is made in the schema of the user, by a user that may do nothing else', async () => {
    const url = await server().createDatabase();
    const client = await connect(url);
    await client.query(`DROP ROLE IF EXISTS narrow; CREATE ROLE narrow LOGIN; CREATE SCHEMA own AUTHORIZATION narrow;
      ALTER ROLE narrow SET search_path = own; REVOKE ALL ON SCHEMA public FROM PUBLIC`);
    await migrate({ url: url.replace('gatehouse@', 'narrow@') });
    const { rows } = await client.query(
      "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'accounts'",
    );
    expect(rows).toEqual([{ schemaname: 'own' }]);
  });

  it('of a newer program is refused, and a user who may not create tables is told what to do', async () => {
    const url = await server().createDatabase();
    await migrate({ url });
    const client = await connect(url);
    await client.query('UPDATE schema_version SET version = 9999');
    await expect(migrate({ url })).rejects.toThrow(/schema 9999.*Use the newer program/);
  });

  it('is refused on a server that could lose what it has acknowledged', async () => {
    const url = await server().createDatabase();
    await server().query('ALTER SYSTEM SET full_page_writes = off');
    await server().query('SELECT pg_reload_conf()');
    onTestFinished(async () => {
      await server().query('ALTER SYSTEM RESET full_page_writes');
      await server().query('SELECT pg_reload_conf()');
    });
    await expect
      .poll(() => migrate({ url }).catch((error: unknown) => error), { timeout: 5_000 })
      .toEqual(new StorageFault('This PostgreSQL server is not safe to use: full_page_writes is off.'));
  });
});
