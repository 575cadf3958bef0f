import { KeyFileFault } from '../../crypto/key-file.ts';
import type { KeySet } from '../../crypto/key-schedule.ts';
import { createSealedBox, SealBroken } from '../../crypto/sealed-box.ts';
import { InstallationMoved } from '../storage.ts';
import { findServer } from './connection/change-marks.ts';
import type { Database, Statements } from './connection/database.ts';
import type { Writer } from './connection/writer.ts';

const canary = { text: 'gatehouse', context: 'Installation:1' } as const;

/**
 * Checks that database and keys belong together, by a canary that the first start stores (T-179).
 * @throws KeyFileFault if the keys cannot open the database
 */
export async function checkInstallation(
  db: Pick<Database, 'row'>,
  writer: Pick<Writer, 'write'>,
  keys: Pick<KeySet, 'sealing'>,
): Promise<void> {
  const box = createSealedBox(keys.sealing);
  const find = 'SELECT canary FROM installation';
  if (!(await db.row(find)))
    await writer.write(
      async (tx) =>
        void (await tx.run(
          'INSERT INTO installation (id, canary) VALUES (1, $1) ON CONFLICT (id) DO NOTHING',
          [box.seal(canary.text, canary.context)],
        )),
    );
  const stored = await db.row<{ canary: Buffer }>(find);
  try {
    box.open(stored?.canary ?? Buffer.alloc(0), canary.context);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new KeyFileFault(
      'The key file belongs to another database. Use the key file that was created with this database; nothing was changed.',
    );
  }
}

/** Requires that the installation was not moved to another database. @throws InstallationMoved */
export async function requireNotMoved(db: Pick<Statements, 'row'>): Promise<void> {
  const found = await db.row<{ movedTo: string | null }>('SELECT moved_to AS "movedTo" FROM installation');
  if (typeof found?.movedTo === 'string') throw new InstallationMoved(found.movedTo);
}

/**
 * Compares the server with the one on which the installation was accepted last, or notes it for the first time.
 * @returns false if it is another one, until an operator accepts it: it may lack acknowledged commits
 */
export async function isAcceptedServer(db: Pick<Statements, 'row' | 'run'>): Promise<boolean> {
  const present = await findServer(db);
  if (present === undefined) return true;
  const stored = await db.row<{ server: string | null }>('SELECT server FROM installation');
  if (typeof stored?.server === 'string') return stored.server === present;
  await db.run('UPDATE installation SET server = $1 WHERE server IS NULL', [present]);
  return true;
}
