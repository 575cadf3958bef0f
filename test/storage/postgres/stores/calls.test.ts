import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callColumns } from '../../../../src/storage/calls.ts';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { openCallStore } from '../../../../src/storage/postgres/stores/calls.ts';
import { StorageUnavailable } from '../../../../src/storage/storage.ts';
import { auditKey, calls, startMs } from '../../contract/call.ts';
import { append, type CallPlace, describeCalls, verify } from '../../contract/calls.ts';
import { describeExports } from '../../contract/exports.ts';
import { connectTo, openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres({ isOwn: true });

async function createPlace(): Promise<CallPlace & { url: string }> {
  const url = await server().createDatabase();
  await (await openPostgresStorage({ url })).close();
  return {
    url,
    open: () => openCallStore({ url }, { audit: auditKey }),
    execute: async (sql) => void (await (await connectTo(url)).query(sql)),
  };
}

describe('PostgreSQL', () => {
  describeCalls(createPlace);
  describeExports(() => openNewDatabase(server()));
});

/**
 * Stands before the server, and ends the connection of the next commit.
 * @returns a URL through it; `lose` names the part to lose, and whether connections fail from then until `restore`
 */
async function cutAtCommit(url: string): Promise<{
  url: string;
  lose: (part: 'commit' | 'answer', andStayAway?: boolean) => void;
  restore: () => void;
}> {
  const { port } = new URL(url);
  let lost: 'commit' | 'answer' | undefined;
  let staysAway = false;
  let isAway = false;
  const proxy = createServer((client) => {
    if (isAway) {
      client.destroy();
      return;
    }
    const target = connect(Number(port), '127.0.0.1');
    let isCut = false;
    const end = (): void => {
      client.destroy();
      target.destroy();
    };
    client.on('data', (data) => {
      isCut ||= lost !== undefined && data.includes('COMMIT');
      if (isCut && lost === 'commit') end();
      else target.write(data);
      if (isCut) lost = undefined;
      isAway = isCut && staysAway;
    });
    target.on('data', (data) => (isCut ? end() : client.write(data)));
    for (const socket of [client, target]) socket.on('error', end).on('close', end);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const own = String((proxy.address() as AddressInfo).port);
  return {
    url: url.replace(port, own),
    lose(part, andStayAway = false) {
      lost = part;
      staysAway = andStayAway;
    },
    restore() {
      staysAway = isAway = false;
    },
  };
}

function openAt(url: string) {
  const store = openCallStore({ url }, { audit: auditKey });
  onTestFinished(() => store.close());
  return store;
}

describe('the call ledger on PostgreSQL', () => {
  it('neither waits for a write of the installation nor keeps one waiting', async () => {
    const { url } = await createPlace();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    const payload = Buffer.from('robot');
    await storage.clients.put({ id: 'robot', payload, createdAt: 0 });
    const other = await connectTo(url);
    await other.query('BEGIN; UPDATE commit_order SET commits = commits + 1');
    await append(storage.calls, calls(1));
    expect(await storage.calls.list({}, 10)).toHaveLength(1);
    await other.query("ROLLBACK; BEGIN; SELECT FROM call_ends WHERE name = 'head' FOR UPDATE");
    const held = append(storage.calls, calls(1));
    await expect(storage.notes.add('robot', 'written', 0)).resolves.toMatchObject({ text: 'written' });
    expect(await storage.calls.list({}, 10)).toHaveLength(1);
    await other.query('ROLLBACK');
    await held;
    expect(await storage.calls.list({}, 10)).toHaveLength(2);
  });

  it('gives up a batch whose turn does not come, and takes it at the next attempt', async () => {
    const { url } = await createPlace();
    const store = openAt(url);
    const other = await connectTo(url);
    await other.query("BEGIN; SELECT FROM call_ends WHERE name = 'head' FOR UPDATE");
    await expect(append(store, calls(1))).rejects.toThrow(StorageUnavailable);
    await other.query('ROLLBACK');
    await append(store, calls(1));
    expect(await store.list({}, 10)).toHaveLength(1);
  });

  it('waits for the disk only if a batch has to survive a crash', async () => {
    const { url, execute } = await createPlace();
    const store = openAt(url);
    await execute(`CREATE TABLE seen (setting text);
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TRIGGER see AFTER INSERT ON call_seals EXECUTE FUNCTION see()`);
    for (const isDurable of [true, false, true])
      await store.append({ calls: calls(1), lost: 0 }, startMs, isDurable);
    const { rows } = await (await connectTo(url)).query<{ setting: string }>('SELECT setting FROM seen');
    expect(rows.map(({ setting }) => setting)).toEqual(['on', 'off', 'on']);
  });

  it('is unavailable while the server is, and goes on in its chain after a crash', async () => {
    const { url } = await createPlace();
    const store = openAt(url);
    await store.append({ calls: calls(3), lost: 0 }, startMs, true);
    await server().stop();
    await expect(append(store, calls(1))).rejects.toThrow(StorageUnavailable);
    await expect(store.list({}, 1)).rejects.toThrow(StorageUnavailable);
    await expect(store.beat('a', 1)).rejects.toThrow(StorageUnavailable);
    await server().start();
    await store.append({ calls: calls(3), lost: 0 }, startMs, true);
    await append(store, calls(3));
    await server().crash();
    await append(store, calls(1));
    expect((await store.read({}, 7)).length).toBeGreaterThanOrEqual(7);
    expect(await verify(store)).toEqual([]);
  });

  it('keeps calls that were read for an export, whatever crashes then', async () => {
    const { url } = await createPlace();
    const store = openAt(url);
    await append(store, calls(5));
    const { ledger, calls: read } = await store.readNext({ ledger: '', calls: 0 }, 10);
    await server().crash();
    expect(await store.readNext({ ledger, calls: 0 }, 10)).toEqual({ ledger, calls: read });
  });

  it('knows that a batch was committed if only the answer of its commit was lost', async () => {
    const { url } = await createPlace();
    const proxy = await cutAtCommit(url);
    const store = openAt(proxy.url);
    await append(store, calls(1));
    proxy.lose('answer');
    expect(await store.append({ calls: calls(2), lost: 0 }, startMs, true)).toMatchObject({
      batch: 2,
    });
    expect(await store.read({}, 10)).toHaveLength(3);
    proxy.lose('commit');
    await expect(append(store, calls(1))).rejects.toThrow('the database cannot be written at the moment');
    await append(store, calls(1));
    expect(await store.read({}, 10)).toHaveLength(4);
    expect(await verify(store)).toEqual([]);
  });

  it('stores a batch once although the server stays away for long after its commit', async () => {
    const { url } = await createPlace();
    const proxy = await cutAtCommit(url);
    const store = openAt(proxy.url);
    await append(store, calls(1));
    const batch = { calls: calls(2), lost: 3 };
    proxy.lose('answer', true);
    await expect(store.append(batch, startMs, true)).rejects.toThrow(StorageUnavailable);
    proxy.restore();
    await append(openAt(url), calls(1));
    expect(await store.append(batch, startMs + 9, true)).toMatchObject({ batch: 2, at: startMs, lost: 3 });
    expect(await store.read({}, 10)).toHaveLength(4);
    expect(await verify(store)).toEqual([]);
  });

  it('has a column for each member of a call, and no other', async () => {
    const { url } = await createPlace();
    const { rows } = await (await connectTo(url)).query<{ column: string }>(
      `SELECT column_name AS column FROM information_schema.columns WHERE table_name = 'calls'`,
    );
    expect(rows.map(({ column }) => column).sort()).toEqual(Object.values(callColumns).sort());
  });
});
