import { randomBytes } from 'node:crypto';
import type { Adapter } from 'oidc-provider';
import { createAdapters } from '../../src/authorization-server/engine/adapter.ts';
import { createSealedClientIds } from '../../src/authorization-server/registration/sealed-client-ids.ts';
import { createSealedBox, createTextSeal, type SealedBox } from '../../src/crypto/sealed-box.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { account, openForTest, startOfTime } from '../storage/contract/subject.ts';
import { openNewDatabase } from '../storage/sqlite/subject.ts';

/** A storage with one account, the engine's adapters over it, and a clock that can be moved. */
export async function startAdapters(refreshGraceSeconds = 120): Promise<{
  storage: Storage;
  box: SealedBox;
  adapter(name: string): Adapter;
  clock: { now: number };
}> {
  const storage = await openForTest(openNewDatabase);
  await storage.accounts.add(account('ada'));
  const box = createSealedBox([{ id: 'k', key: randomBytes(32).toString('base64url') }]);
  const clock = { now: startOfTime };
  const { artifacts, clients } = storage;
  const now = () => clock.now;
  const adapter = createAdapters({
    redirectSchemes: [],
    artifacts,
    clients,
    clientSources: {
      grantsOff: [],
      keys: {
        find: async () => {
          throw new Error('nothing is fetched here');
        },
      },
    },
    box,
    sealedIds: createSealedClientIds(createTextSeal(box), now),
    newClientStatus: 'approved',
    refreshGraceSeconds,
    userCodeKeys: ['a new key', 'an old key'],
    interactionSeconds: 3600,
    now,
  });
  return { storage, box, adapter, clock };
}
