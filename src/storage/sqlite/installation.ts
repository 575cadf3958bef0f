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

function hasTable(db: Database.Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

/** The sealed row of a database; undefined where it has none yet, as an earlier version may have left it. */
function findCanary(db: Database.Database): Buffer | undefined {
  if (!hasTable(db, 'installation')) return undefined;
  return db.prepare<[], Buffer>('SELECT canary FROM installation').pluck().get();
}

/**
 * Requires that keys open what a database holds, changing nothing.
 * @param db an opened database, of an earlier version, too
 * @param keys what the key file holds
 * @throws KeyFileFault where they are those of another database (T-179)
 */
export function requireFittingKeys(db: Database.Database, keys: KeySet): void {
  const box = createSealedBox(keys.sealing);
  const sealed = findCanary(db);
  const fits = sealed
    ? opens(box, sealed, canary.context)
    : !hasTable(db, 'clients') || opensItsRows(db, box);
  if (!fits)
    throw new KeyFileFault(
      'The key file belongs to another database. Put the key file (gatehouse.keys.json) and the database of one backup together; nothing was changed.',
    );
}

/**
 * Checks that database and key file belong together, by a sealed row that the first start leaves (T-179).
 * @param db an opened, migrated database
 * @param keys what the key file holds
 * @throws KeyFileFault where the keys cannot open what the database holds
 */
export function checkInstallation(db: Database.Database, keys: KeySet): void {
  const join = (): void => {
    requireFittingKeys(db, keys);
    if (findCanary(db)) return;
    db.prepare('INSERT INTO installation (id, canary) VALUES (1, ?)').run(
      createSealedBox(keys.sealing).seal(canary.text, canary.context),
    );
  };
  if (findCanary(db)) join();
  else db.transaction(join).immediate();
}
