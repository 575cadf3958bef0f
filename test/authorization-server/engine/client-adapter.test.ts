import { describe, expect, it } from 'vitest';
import { commitWrites } from '../../../src/authorization-server/engine/write-set.ts';
import { startAdapters } from '../storage-subject.ts';

describe('the registration access token of a client', () => {
  it('is good for one change, also where several requests have found it before any was done (T-064)', async () => {
    const { storage, adapter } = await startAdapters();
    const tokens = adapter('RegistrationAccessToken');
    await adapter('Client').upsert('c', { client_id: 'c' }, 0);
    await tokens.upsert('first', { clientId: 'c' }, 0);
    let found = 0;
    let release = (): void => undefined;
    const allFound = new Promise<void>((resolve) => {
      release = resolve;
    });
    const changes = await Promise.all(
      [0, 1, 2].map((number) =>
        commitWrites(storage.artifacts, async () => {
          expect(await tokens.find('first')).toMatchObject({ clientId: 'c' });
          found += 1;
          if (found === 3) release();
          await allFound;
          await tokens.upsert(`next ${number}`, { clientId: 'c' }, 0);
          return true;
        }),
      ),
    );
    expect(changes.filter(({ result }) => result.committed)).toHaveLength(1);
    const good = await Promise.all([0, 1, 2].map((number) => tokens.find(`next ${number}`)));
    expect(good.filter((token) => token !== undefined)).toHaveLength(1);
    expect(await tokens.find('first')).toBeUndefined();
  });
});
