import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { composeEnteredCredentials } from '../../src/composition/backend-state.ts';
import { generateSealingKey } from '../../src/crypto/key-schedule.ts';
import { createSealedBox } from '../../src/crypto/sealed-box.ts';
import { credentialContext } from '../../src/storage/backends.ts';
import { account, startOfTime } from '../storage/contract/subject.ts';
import { openNewDatabase } from '../storage/sqlite/subject.ts';

async function start() {
  const storage = openNewDatabase();
  const box = createSealedBox([generateSealingKey()]);
  const warn = vi.fn();
  const store = storage.backendCredentials;
  const entered = await composeEnteredCredentials({ store, box, logger: { warn }, intervalMs: 20 });
  onTestFinished(async () => {
    entered.close();
    await storage.close();
  });
  for (const id of ['ada', 'grace']) await storage.accounts.add(account(id));
  const put = (accountId: string, route: string, value: string, sealedFor = accountId) =>
    store.put(
      { accountId, route, name: 'key' },
      box.seal(value, credentialContext(sealedFor, route, 'key')),
      startOfTime,
    );
  return { storage, entered, put, warn };
}

describe('what people have entered for backends', () => {
  it('is opened for the account, route and name it was sealed for, and for no other (T-094, T-158)', async () => {
    const { entered, put } = await start();
    await put('ada', 'notion', 'key-of-ada');
    await put('grace', 'notion', 'moved', 'ada');
    expect(await entered.read('ada', 'notion', 'key')).toBe('key-of-ada');
    expect(await entered.read('ada', 'files', 'key')).toBeUndefined();
    await expect(entered.read('grace', 'notion', 'key')).rejects.toThrow();
  });

  it('tells whose has changed or gone, of the route that listens, from the first moment on', async () => {
    const { storage, entered, put } = await start();
    const tell = vi.fn();
    entered.onChange('notion', tell);
    await put('grace', 'notion', 'new');
    await vi.waitFor(() => expect(tell.mock.calls).toEqual([['grace']]));
    await put('ada', 'files', 'other route');
    await put('ada', 'notion', 'new');
    await vi.waitFor(() => expect(tell.mock.calls).toEqual([['grace'], ['ada']]));
    tell.mockClear();
    await storage.backendCredentials.remove({ accountId: 'ada', route: 'notion', name: 'key' });
    await vi.waitFor(() => expect(tell.mock.calls.flat()).toContain('ada'));
    tell.mockClear();
    await storage.accounts.remove('grace');
    await vi.waitFor(() => expect(tell.mock.calls).toEqual([['grace']]));
  });

  it('tells nobody who has stopped listening', async () => {
    const { entered, put } = await start();
    const [first, second] = [vi.fn(), vi.fn()];
    const stop = entered.onChange('notion', first);
    entered.onChange('notion', second);
    stop();
    await vi.waitFor(async () => {
      await put('ada', 'notion', 'new');
      expect(second).toHaveBeenCalled();
    });
    expect(first).not.toHaveBeenCalled();
  });

  it('goes on looking where the database did not answer, and says so once', async () => {
    const { storage, entered, put, warn } = await start();
    const changesAfter = vi.spyOn(storage.backendCredentials, 'changesAfter');
    changesAfter.mockRejectedValue(new Error('busy'));
    const tell = vi.fn();
    entered.onChange('notion', tell);
    await vi.waitFor(() => expect(changesAfter.mock.calls.length).toBeGreaterThan(2));
    await put('ada', 'notion', 'new');
    changesAfter.mockRestore();
    await vi.waitFor(() => expect(tell.mock.calls).toEqual([['ada']]));
    expect(warn).toHaveBeenCalledOnce();
  });
});
