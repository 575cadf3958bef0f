import { onTestFinished } from 'vitest';
import { createAdministration } from '../../../../src/authorization-server/administration/administration.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';

/** Opens a new installation as an operator's commands do; its clock stands at 1,800,000,000. */
export async function openTestAdministration(): Promise<ReturnType<typeof createAdministration>> {
  const folder = await openDataFolder(testFolder());
  onTestFinished(() => folder.storage.close());
  return createAdministration(folder, () => 1_800_000_000);
}
