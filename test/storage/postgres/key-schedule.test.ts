import { describe, expect, it, onTestFinished } from 'vitest';
import { KeyFileFault } from '../../../src/crypto/key-file.ts';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { openPostgres } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';

const server = usePostgres();

const newKey = (): SealingKey => parseMasterKey(generateMasterKey()) as SealingKey;

async function open(url: string, masterKey: SealingKey) {
  const asked: boolean[] = [];
  const installation = await openPostgres({
    url,
    masterKey: async (isNew) => {
      asked.push(isNew);
      return masterKey;
    },
  });
  onTestFinished(() => installation.storage.close());
  return { ...installation, asked };
}

describe('the keys of an installation on PostgreSQL', () => {
  it('are made by the first node and the same for all, two that start at once included', async () => {
    const url = await server().createDatabase();
    const masterKey = newKey();
    const nodes = await Promise.all([open(url, masterKey), open(url, masterKey)]);
    const later = await open(url, masterKey);
    expect(nodes[0]?.keys).toEqual(nodes[1]?.keys);
    expect(later.keys).toEqual(nodes[0]?.keys);
    expect(later.asked).toEqual([false]);
  });

  it('cannot be read from the database without the master key, nor opened with another (T-163)', async () => {
    const url = await server().createDatabase();
    const { keys, storage } = await open(url, newKey());
    await storage.audit.append([{ at: 1, event: 'one', details: {} }]);
    await expect(open(url, newKey())).rejects.toThrow(KeyFileFault);
    await expect(open(url, newKey())).rejects.toThrow(/under another master key/);
    expect(keys.sealing).toHaveLength(1);
  });

  it('that one node rotates are known to the others within two seconds, and rotated once if both do it (T-178)', async () => {
    const url = await server().createDatabase();
    const masterKey = newKey();
    const [here, there] = [await open(url, masterKey), await open(url, masterKey)];
    const [one, two] = await Promise.all([here.keyRing.rotate('cookies'), there.keyRing.rotate('cookies')]);
    expect(one.key.id).toBe(two.key.id);
    expect([one.isNew, two.isNew].filter(Boolean)).toHaveLength(1);
    await here.keyRing.rotate('signing');
    await expect
      .poll(
        () => {
          there.keyRing.refresh();
          return there.keyRing.list();
        },
        { timeout: 2_000 },
      )
      .toEqual(here.keyRing.list());
  });
});
