import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../../../src/storage/postgres/connection/migrate.ts';
import { programSchema, readMigrations } from '../../../../src/storage/postgres/connection/schema.ts';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';
import { settled } from '../../contract/nodes.ts';
import { compatible, newerMigrations } from '../newer-migrations.ts';

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

  it('is found by a node that waited while another one made it', async () => {
    const url = await server().createDatabase();
    const client = await connect(url);
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(x'67617465'::int)`);
    const migrated = migrate({ url });
    const waiting = "SELECT count(*)::int AS nodes FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(async () => (await client.query(waiting)).rows).toEqual([{ nodes: 1 }]);
    await client.query(`CREATE TABLE schema_version (version integer);
      INSERT INTO schema_version VALUES (${programSchema()});
      CREATE TABLE commit_order (min_reader integer); INSERT INTO commit_order VALUES (1); COMMIT`);
    await migrated;
    expect((await client.query("SELECT to_regclass('accounts') AS made")).rows).toEqual([{ made: null }]);
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

const breaking = 'ALTER TABLE notes RENAME COLUMN text TO words;';

describe('an upgrade', () => {
  it('names the oldest schema that can use the database afterwards: its own, unless the step names one', () => {
    const steps = readMigrations(newerMigrations(compatible));
    expect(steps.at(-1)).toMatchObject({ version: 9001, minReader: programSchema() });
    expect(steps.at(0)).toMatchObject({ version: 22, minReader: 22 });
    expect(readMigrations(newerMigrations(breaking)).at(-1)).toMatchObject({ minReader: 9001 });
  });

  it('leaves nodes of the schema before at work, and lets more of them start', async () => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    const upgrades: unknown[] = [];
    await migrate(
      { url },
      { folder: newerMigrations(compatible), beforeUpgrade: (upgrade) => upgrades.push(upgrade) },
    );
    expect(upgrades).toEqual([{ from: programSchema(), to: 9001, minReader: programSchema() }]);
    await storage.probeWrite();
    await storage.nodes.beat({ id: 'a', address: '10.0.0.1:1', version: '1', startedAt: 1, ...settled });
    const another = await openPostgresStorage({ url });
    await another.probeWrite();
    await another.close();
    const client = await connect(url);
    expect((await client.query('SELECT version FROM schema_version')).rows).toEqual([{ version: 9001 }]);
  });

  it('that nodes of the schema before cannot follow waits for them, names them, and refuses them afterwards', async () => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    const node = { id: 'a', address: '10.0.0.1:1', version: '1.2.3', startedAt: 1, ...settled };
    await storage.nodes.beat(node);
    const reasons: string[] = [];
    const upgraded = migrate(
      { url },
      { folder: newerMigrations(breaking), onWait: (reason) => reasons.push(reason) },
    );
    await expect.poll(() => reasons.length).toBeGreaterThan(0);
    await storage.probeWrite();
    await storage.nodes.leave(node.id);
    await expect.poll(() => reasons.at(-1)).toMatch(/^A server or command on 127\.0\.0\.1 knows schema/);
    await storage.close();
    await upgraded;
    expect(reasons[0]).toBe(
      `The node 10.0.0.1:1 (version 1.2.3) knows schema ${programSchema()} and could not use the upgraded database: stop it.`,
    );
    await expect(openPostgresStorage({ url })).rejects.toThrow(
      /^The database is of schema 9001 and can be used by programs that know schema 9001; this program knows schemas up to \d+\. Use the newer program/,
    );
  });

  it('refuses the writes and the lease of a node that it could not see', async () => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    // As behind a pooler, a server without a port for other nodes is not seen.
    await migrate({ url, pooled: true }, { folder: newerMigrations(breaking) });
    await expect(storage.probeWrite()).rejects.toThrow(/upgraded beyond this program/);
    await expect(
      storage.nodes.beat({ id: 'a', address: '10.0.0.1:1', version: '1', startedAt: 1, ...settled }),
    ).rejects.toThrow(/upgraded beyond this program/);
  });

  it('tries again if a table is locked, says so, and lets others use the table in between', async () => {
    const url = await server().createDatabase();
    await migrate({ url });
    const holder = await connect(url);
    await holder.query('BEGIN; LOCK TABLE notes IN ACCESS SHARE MODE');
    const reasons: string[] = [];
    const upgraded = migrate(
      { url },
      { folder: newerMigrations(compatible), onWait: (reason) => reasons.push(reason) },
    );
    await expect.poll(() => reasons.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(reasons[0]).toMatch(/^Another program has locked a table/);
    const reader = await connect(url);
    await reader.query('SELECT count(*) FROM notes');
    await holder.query('COMMIT');
    await upgraded;
  });

  it('ends its wait when it is told to', async () => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    const stop = new AbortController();
    await expect(
      migrate(
        { url },
        { folder: newerMigrations(breaking), onWait: () => stop.abort(), signal: stop.signal },
      ),
    ).rejects.toThrow(/aborted/);
    await storage.probeWrite();
  });
});
