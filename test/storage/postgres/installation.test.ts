import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyFileFault } from '../../../src/crypto/key-file.ts';
import { generateKeySet } from '../../../src/crypto/key-schedule.ts';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { acceptDatabase, openPostgres, openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { restartAsStandby } from './fail-over.ts';
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

    await restartAsStandby(server());
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

  it('is known to a node that runs: after a failover it warns once, although nothing else shows it', async () => {
    const key = parseMasterKey(generateMasterKey()) as SealingKey;
    const warnings: string[] = [];
    const { storage } = await openPostgres({
      ...{ url: await server().createDatabase(), masterKey: async () => key },
      onOtherServer: (sentence) => warnings.push(sentence),
    });
    onTestFinished(() => storage.close());
    await restartAsStandby(server());
    await server().query('SELECT pg_promote()');
    await expect.poll(() => warnings.length, { timeout: 20_000 }).toBe(1);
    expect(warnings[0]).toContain('another server or timeline');
    await storage.probeWrite();
  });
});
