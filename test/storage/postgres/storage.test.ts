import { describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { StorageUnavailable, StorageUnreachable } from '../../../src/storage/storage.ts';
import { describeCommits } from '../contract/commits.ts';
import { describeNotes } from '../contract/notes.ts';
import { openNewDatabase, usePostgres } from './subject.ts';

const server = usePostgres({ isOwn: true });

describe('PostgreSQL', () => {
  describeCommits(() => openNewDatabase(server()));

  it('says that it is unavailable while it is stopped, asks for no restart of the node, and comes back by itself', async () => {
    const storage = await openNewDatabase(server());
    await server().stop();
    await expect(storage.probeWrite()).rejects.toBeInstanceOf(StorageUnavailable);
    // A restart of the node would not help.
    await expect(storage.ping()).resolves.toBeUndefined();
    await server().start();
    await expect(storage.probeWrite()).resolves.toBeUndefined();
    await storage.close();
  });

  it('that cannot be reached at the start is a fault that says what to do', async () => {
    const opening = openPostgresStorage({ url: 'postgres://nobody@127.0.0.1:1/nothing' });
    await expect(opening).rejects.toThrow(StorageUnreachable);
    await expect(opening).rejects.toThrow(/Check host, port and TLS/);
  });
});

describe('PostgreSQL', () => describeNotes(() => openNewDatabase(server())));
