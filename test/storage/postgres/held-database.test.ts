import { describe, expect, it, onTestFinished } from 'vitest';
import { holdDatabase } from '../../../src/storage/postgres/held-database.ts';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { settled } from '../contract/nodes.ts';
import { usePostgres } from './subject.ts';

const server = usePostgres();

describe('a held database', () => {
  it('has no other writer until the transaction ends', async () => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    const client = await holdDatabase({ url }, { exclusively: false });
    let isWritten = false;
    const written = storage.probeWrite().then(() => {
      isWritten = true;
    });
    await storage.notes.list('nobody', 1);
    expect(isWritten).toBe(false);
    await client.query('COMMIT');
    await client.end();
    await written;
  });

  it('is refused exclusively while a server uses it, a node with its address, and where there is no installation', async () => {
    const url = await server().createDatabase();
    const hold = async (pooled = false): Promise<void> => {
      await (await holdDatabase({ url, pooled }, { exclusively: true })).end();
    };
    await expect(hold()).rejects.toThrow(/^There is no installation in the PostgreSQL database test_\w+ at/);
    const storage = await openPostgresStorage({ url });
    await expect(hold()).rejects.toThrow(/in use by a server or command on 127\.0\.0\.1\./);
    await storage.nodes.beat({ id: 'a', address: '10.0.0.1:7', version: '1', startedAt: 1, ...settled });
    await expect(hold(true)).rejects.toThrow(/in use by the node 10\.0\.0\.1:7\./);
    await storage.nodes.leave('a');
    await storage.close();
    await hold();
  });
});
