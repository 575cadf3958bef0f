// Copies an installation and is killed before a step. Arguments: the direction (`there` or `back`), the data folder, the URL
// of the database, its master key, and the step.

import type { SealingKey } from '../../src/crypto/sealed-box.ts';
import { copyInstallation } from '../../src/storage/copy.ts';
import * as postgres from '../../src/storage/postgres/index.ts';
import { parseMasterKey } from '../../src/storage/postgres/open-installation.ts';
import * as sqlite from '../../src/storage/sqlite/index.ts';

const [direction, folder = '', url = '', masterKey = '', step = ''] = process.argv.slice(2);
const place = { url, masterKey: async () => parseMasterKey(masterKey) as SealingKey };
const isThere = direction === 'there';
const source = isThere ? sqlite.openCopySource(folder) : await postgres.openCopySource(place);
const target = isThere ? await postgres.openCopyTarget(place) : sqlite.openCopyTarget(folder);

/** Ends this process as `kill -9` does, before any further work. */
async function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

await copyInstallation(
  step === 'mark the source' ? { ...source, commit: die } : source,
  {
    ...target,
    ...(step === 'write the keys' && { writeKeys: die }),
    ...(step === 'commit the target' && { commit: die }),
  },
  { moves: true, now: Math.floor(Date.now() / 1000) },
);
