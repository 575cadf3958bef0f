import type Database from 'better-sqlite3';
import { KeyFileFault } from '../../crypto/key-file.ts';
import type { KeySet } from '../../crypto/keys.ts';
import { createSealedBox, SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';

const canary = { text: 'gatehouse', context: 'Installation:1' } as const;

/** How many rows of each table a database without a canary is tried by. */
const rowsTried = 8;

function opens(box: SealedBox, sealed: Uint8Array, context: string): boolean {
  try {
    box.open(sealed, context);
    return true;
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

/** Whether the keys open a row of a database that has no canary yet; a database without sealed rows fits any keys. */
function opensItsRows(db: Database.Database, box: SealedBox): boolean {
  const rows = db
    .prepare<[], { context: string; payload: Buffer }>(
      `SELECT * FROM (SELECT 'Client:' || id AS context, payload FROM clients LIMIT ${rowsTried})
       UNION ALL SELECT * FROM (SELECT 'Grant:' || id, payload FROM grants LIMIT ${rowsTried})
       UNION ALL SELECT * FROM (SELECT kind || ':' || id, payload FROM artifacts LIMIT ${rowsTried})`,
    )
    .all();
  return rows.length === 0 || rows.some(({ context, payload }) => opens(box, payload, context));
}

/**
 * Checks that database and key file belong together, by a sealed row that the first start leaves (T-179).
 * @param db an opened, migrated database
 * @param keys what the key file holds
 * @throws KeyFileFault where the keys cannot open what the database holds
 */
export function checkInstallation(db: Database.Database, keys: KeySet): void {
  const box = createSealedBox(keys.sealing);
  const find = db.prepare<[], Buffer>('SELECT canary FROM installation').pluck();
  const fits = (): boolean => {
    const sealed = find.get();
    if (sealed) return opens(box, sealed as Buffer, canary.context);
    if (!opensItsRows(db, box)) return false;
    db.prepare('INSERT INTO installation (id, canary) VALUES (1, ?)').run(
      box.seal(canary.text, canary.context),
    );
    return true;
  };
  const fit = find.get() ? fits() : db.transaction(fits).immediate();
  if (!fit)
    throw new KeyFileFault(
      'The key file belongs to another database. Put the key file (gatehouse.keys.json) and the database of one backup together; nothing was changed.',
    );
}
