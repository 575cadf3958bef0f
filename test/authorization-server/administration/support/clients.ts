import { onTestFinished } from 'vitest';
import { createAdministration } from '../../../../src/authorization-server/administration/administration.ts';
import { payloadContext } from '../../../../src/authorization-server/engine/stored-rows.ts';
import { createSealedBox } from '../../../../src/crypto/sealed-box.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';

/** When the tests of clients play, epoch seconds. */
export const now = 1_800_000_000;

/** Opens a new installation with what its clients are made and read with. */
export async function openClients() {
  const folder = await openDataFolder(testFolder());
  onTestFinished(() => folder.storage.close());
  const box = createSealedBox(folder.keys.sealing);
  const seal = (kind: string, id: string, metadata: object) =>
    box.seal(JSON.stringify(metadata), payloadContext(kind, id));
  return { storage: folder.storage, box, seal, clients: createAdministration(folder, () => now).clients };
}
