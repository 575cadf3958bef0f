import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyFileFault } from '../../../src/crypto/key-file.ts';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { type CopiedTable, copiedTables } from '../../../src/storage/copied-tables.ts';
import { copyInstallation } from '../../../src/storage/copy.ts';
import {
  type CopyPlace,
  openCopySource,
  openCopyTarget,
  openPostgres,
  openPostgresStorage,
} from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import * as sqlite from '../../../src/storage/sqlite/index.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { testFolder } from '../../client/support/folder.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { settled } from '../contract/nodes.ts';
import { fillInstallation } from '../filled-installation.ts';
import { connectTo } from './subject.ts';

const server = usePostgres();

const newKey = (): SealingKey => parseMasterKey(generateMasterKey()) as SealingKey;

/** A new database with an installation in it, which nobody uses. */
async function installed(): Promise<Required<Pick<CopyPlace, 'url' | 'masterKey'>>> {
  const key = newKey();
  const place = { url: await server().createDatabase(), masterKey: async () => key };
  const { storage } = await openPostgres(place);
  await storage.close();
  return place;
}

describe('a database that is copied from', () => {
  it('must not be in use by a server, which is found by its connections or by its beat', async () => {
    const place = await installed();
    const { storage } = await openPostgres(place);
    onTestFinished(() => storage.close());
    await expect(openCopySource(place)).rejects.toThrow(
      /^The database is in use by a server or command on 127\.0\.0\.1\. Stop every server first/,
    );
    await storage.nodes.beat({
      id: 'node',
      address: '10.0.0.7:7000',
      version: '1',
      startedAt: 1,
      ...settled,
    });
    await expect(openCopySource({ ...place, pooled: true })).rejects.toThrow(
      'The database is in use by the node 10.0.0.7:7000.',
    );
  });

  it('takes no write of a server that was not seen, neither during the copy nor after it moved', async () => {
    const place = await installed();
    const unseen = await openPostgres(place);
    onTestFinished(() => unseen.storage.close());
    const source = await openCopySource({ ...place, pooled: true });
    const waiting = expect(unseen.storage.probeWrite()).rejects.toThrow(StorageUnavailable);
    await source.markMoved('another place');
    await source.commit();
    await source.close();
    await waiting;
    await expect(unseen.storage.probeWrite()).rejects.toThrow(StorageUnavailable);
    await expect(openPostgresStorage(place)).rejects.toThrow('This installation has moved to another place.');
  });

  it('is read as of one moment, whatever others change in it meanwhile', async () => {
    const place = await installed();
    const source = await openCopySource(place);
    const accounts = copiedTables.find(({ name }) => name === 'accounts') as CopiedTable;
    expect(await source.count(accounts)).toBe(0);
    const other = await connectTo(place.url);
    await other.query("INSERT INTO accounts VALUES ('ada', 'ada@example.com', 'hash', 1, NULL)");
    expect(await source.read(accounts, undefined)).toEqual([]);
    await source.close();
  });

  it('is not marked if the copy is given up', async () => {
    const place = await installed();
    const source = await openCopySource(place);
    await source.markMoved('another place');
    await source.close();
    const { storage } = await openPostgres(place);
    await storage.probeWrite();
    await storage.close();
  });

  it('must have an installation, and is opened by its own master key alone (T-163)', async () => {
    const url = await server().createDatabase();
    await expect(openCopySource({ url, masterKey: async () => newKey() })).rejects.toThrow(
      /^There is no installation in the PostgreSQL database test_/,
    );
    const place = await installed();
    const source = await openCopySource({ ...place, masterKey: async () => newKey() });
    await expect(source.readKeys()).rejects.toThrow(KeyFileFault);
    await source.close();
  });
});

describe('a database that is copied to', () => {
  it('must not have an installation', async () => {
    await expect(openCopyTarget(await installed())).rejects.toThrow(
      /^There is an installation in the PostgreSQL database .* already\. Name an empty database/,
    );
  });

  it('must not be in use', async () => {
    const url = await server().createDatabase();
    const storage = await openPostgresStorage({ url });
    onTestFinished(() => storage.close());
    await expect(openCopyTarget({ url, masterKey: async () => newKey() })).rejects.toThrow(
      'The database is in use by a server or command on 127.0.0.1.',
    );
  });

  it('may be a schema of a role without other rights, and has all its triggers afterwards', async () => {
    const owner = await server().createDatabase();
    const admin = await connectTo(owner);
    const role = `role_of_${new URL(owner).pathname.slice(1)}`;
    await admin.query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
    const url = owner.replace('gatehouse@', `${role}@`);
    const folder = join(testFolder(), 'data');
    await fillInstallation(folder);
    const source = sqlite.openCopySource(folder);
    const target = await openCopyTarget({ url, masterKey: async () => newKey() });
    const copied = await copyInstallation(source, target, {
      moves: true,
      now: Math.floor(Date.now() / 1000),
    });
    await target.close();
    await source.close();
    expect(copied.tables.find(({ name }) => name === 'artifacts')?.rows).toBe(2);
    const { rows } = await admin.query(
      `SELECT tgname FROM pg_trigger JOIN pg_class ON tgrelid = pg_class.oid WHERE relnamespace = '${role}'::regnamespace AND tgenabled <> 'O'`,
    );
    expect(rows).toEqual([]);
  });

  it('is not written twice with one master key asked for: a command that prints it runs once', async () => {
    let asked = 0;
    const key = newKey();
    const url = await server().createDatabase();
    const target = await openCopyTarget({
      url,
      masterKey: async () => {
        asked++;
        return key;
      },
    });
    await target.close();
    expect(asked).toBe(1);
  });
});
