import { describe, expect, it, onTestFinished } from 'vitest';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { programSchema } from '../../../src/storage/postgres/connection/schema.ts';
import { acceptDatabase, openPostgres, rewrapKeys } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { account, artifact, grant } from '../contract/subject.ts';
import { compatible, newerMigrations } from './newer-migrations.ts';
import { connectTo, usePostgres } from './subject.ts';

const server = usePostgres();
const newKey = (): SealingKey => parseMasterKey(generateMasterKey()) as SealingKey;

async function open(url: string, masterKey: () => SealingKey) {
  const installation = await openPostgres({ url, masterKey: async () => masterKey() });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) await installation.storage.close();
    isClosed = true;
  };
  onTestFinished(close);
  return { ...installation, close };
}

describe('a database that may lack commits', () => {
  it('is accepted once all servers have stopped: all that was issued has ended, in one commit with its event (T-173)', async () => {
    const url = await server().createDatabase();
    const key = newKey();
    const masterKey = async (): Promise<SealingKey> => key;
    const before = await open(url, () => key);
    await before.storage.accounts.add(account('ada'));
    await before.storage.artifacts.commit([grant('g'), artifact('token', { grantId: 'g' })]);
    await before.storage.audit.append([{ at: 7, event: 'last', details: {} }]);
    const accept = (note: Parameters<typeof acceptDatabase>[0]['note']) =>
      acceptDatabase({ url, masterKey, keepLogins: false, note });
    await expect(accept(async () => undefined)).rejects.toThrow(/in use by a server/);
    await before.close();

    await expect(
      accept(async () => {
        throw new Error('no event');
      }),
    ).rejects.toThrow('no event');
    const kept = await open(url, () => key);
    expect(await kept.storage.artifacts.find('RefreshToken', 'token')).toBeDefined();
    await kept.close();

    await accept(async (append, asOf) =>
      append({ at: 9, event: 'accepted', details: { asOf: String(asOf) } }),
    );
    const { storage } = await open(url, () => key);
    expect(await storage.artifacts.find('RefreshToken', 'token')).toBeUndefined();
    expect(await storage.accounts.find('ada')).toBeDefined();
    const [last] = await storage.audit.read({ limit: 1, newestFirst: true });
    expect(last).toMatchObject({ seq: 2, event: 'accepted', details: '{"asOf":"7"}' });
  });

  it('goes on being written while the command asks for the master key, which a program may print late', async () => {
    const url = await server().createDatabase();
    const key = newKey();
    const { storage } = await open(url, () => key);
    const masterKey = async (): Promise<SealingKey> => {
      await storage.probeWrite();
      return key;
    };
    await acceptDatabase({ url, masterKey, keepLogins: true, note: async () => undefined });
  });

  it('is not upgraded if it is refused: a server uses it, or the master key is another one', async () => {
    const url = await server().createDatabase();
    const key = newKey();
    const running = await open(url, () => key);
    const accept = (present: SealingKey) =>
      acceptDatabase({
        ...{ url, keepLogins: false, folder: newerMigrations(compatible) },
        masterKey: async () => present,
        note: async () => undefined,
      });
    await expect(accept(key)).rejects.toThrow(/in use by a server/);
    await running.close();
    await expect(accept(newKey())).rejects.toThrow(/sealed under another master key/);
    const db = await connectTo(url);
    const find = async () => (await db.query('SELECT version FROM schema_version')).rows;
    expect(await find()).toEqual([{ version: programSchema() }]);
    await accept(key);
    expect(await find()).toEqual([{ version: 9001 }]);
  });
});

describe('keys that are sealed under a new master key', () => {
  it('are the same, open with the new one only, and a running server takes the new one from its source', async () => {
    const url = await server().createDatabase();
    const [before, after] = [newKey(), newKey()];
    let held = before;
    const running = await open(url, () => held);
    const note: Parameters<typeof rewrapKeys>[0]['note'] = async (append) =>
      append({ at: 1, event: 'rewrapped', details: {} });
    const options = { url, masterKey: before, newMasterKey: after, note };
    expect(await rewrapKeys(options)).toBe(true);
    expect(await rewrapKeys(options)).toBe(false);
    await expect(rewrapKeys({ ...options, newMasterKey: newKey() })).rejects.toThrow(
      /sealed under another master key/,
    );
    // As after a command that was killed, once the new key is where the old one was.
    expect(await rewrapKeys({ ...options, masterKey: after })).toBe(false);
    await expect(rewrapKeys({ ...options, newMasterKey: before })).rejects.toThrow(
      /the keys are sealed under another one\. Name the place of the old one/,
    );
    await expect(open(url, () => before)).rejects.toThrow(
      /sealed under another master key\. Give this node the master key of the others/,
    );
    const later = await open(url, () => after);
    expect(later.keys).toEqual(running.keys);

    // The running server has the keys, and says that it cannot follow changes until its source has the new master key.
    await expect.poll(() => refresh(running.keyRing)).toMatch(/under another master key/);
    await running.storage.probeWrite();
    held = after;
    await later.keyRing.rotate('cookies');
    await expect
      .poll(() => [refresh(running.keyRing), idsOf(running)], { timeout: 25_000 })
      .toEqual([undefined, idsOf(later)]);
    expect(
      (await running.storage.audit.read({ limit: 9, newestFirst: true })).map(({ event }) => event),
    ).toEqual(['rewrapped']);
  });
});

/** Returns the ids of the keys of a server. */
function idsOf({ keyRing }: Awaited<ReturnType<typeof open>>): string[] {
  return keyRing.list().map(({ kind, id }) => `${kind} ${id}`);
}

/** Returns the problem of a look at the keys. */
function refresh(ring: { refresh: () => boolean }): string | undefined {
  try {
    ring.refresh();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
