import { describe, expect, it, onTestFinished } from 'vitest';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { acceptDatabase, openPostgres, rewrapKeys } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { account, artifact, grant } from '../contract/subject.ts';
import { usePostgres } from './subject.ts';

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
    await expect(rewrapKeys({ ...options, newMasterKey: before })).rejects.toThrow(/is the present one/);
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
