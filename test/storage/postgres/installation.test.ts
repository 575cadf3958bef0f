import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyFileFault } from '../../../src/crypto/key-file.ts';
import { generateKeySet } from '../../../src/crypto/key-schedule.ts';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';

const server = usePostgres();

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
