import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyFileFault } from '../../../src/crypto/key-file.ts';
import { generateKeySet } from '../../../src/crypto/key-schedule.ts';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { acceptDatabase, openPostgres, openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { serverOwner, usePostgres } from '../../support/postgres/postgres.ts';
import { connectTo } from './subject.ts';

const server = usePostgres({ isOwn: true });

describe('a database', () => {
  it('opens with the keys that it was made with and with no others (T-179)', async () => {
    const url = await server().createDatabase();
    const keys = await generateKeySet();
    for (let starts = 0; starts < 2; starts++) await (await openPostgresStorage({ url }, keys)).close();
    await expect(openPostgresStorage({ url }, await generateKeySet())).rejects.toThrow(KeyFileFault);
    const storage = await openPostgresStorage({ url }, keys);
    onTestFinished(() => storage.close());
    await storage.probeWrite();
  });
});

/** Starts the server as a standby, and promotes it: it has another timeline then. */
async function failOver(): Promise<void> {
  const [{ data_directory: data }] = (await server().query('SHOW data_directory')) as [
    { data_directory: string },
  ];
  await server().stop();
  const signal = join(data, 'standby.signal');
  writeFileSync(signal, '');
  const owner = serverOwner();
  if (owner) chownSync(signal, owner.uid, owner.gid);
  await server().start();
}

describe('the server of an installation', () => {
  it('that is a standby is refused; once it is promoted, each start warns until an operator accepts it', async () => {
    const admin = await server().createDatabase();
    await server().query('CREATE ROLE plain LOGIN');
    await server().query(`ALTER DATABASE ${new URL(admin).pathname.slice(1)} OWNER TO plain`);
    // A role without further rights may ask for the timeline.
    const url = admin.replace('gatehouse@', 'plain@');
    const masterKey = async (): Promise<SealingKey> => key;
    const key = parseMasterKey(generateMasterKey()) as SealingKey;
    async function start(): Promise<string[]> {
      const warnings: string[] = [];
      const { storage } = await openPostgres({
        ...{ url, masterKey },
        onOtherServer: (sentence) => warnings.push(sentence),
      });
      await storage.close();
      return warnings;
    }
    expect([await start(), await start()]).toEqual([[], []]);

    await failOver();
    await expect(start()).rejects.toThrow('the server is a read-only standby');
    await server().query('SELECT pg_promote()');
    const warning = [expect.stringContaining('another server or timeline')];
    expect([await start(), await start()]).toEqual([warning, warning]);

    const note = async (): Promise<void> => undefined;
    await acceptDatabase({ url, masterKey, keepLogins: true, note });
    expect(await start()).toEqual([]);
    expect((await (await connectTo(url)).query('SELECT server FROM installation')).rows).toEqual([
      { server: expect.stringMatching(/^\d+\/00000002$/) },
    ]);
  });
});
