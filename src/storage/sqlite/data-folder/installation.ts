import type Database from 'better-sqlite3';
import { KeyFileFault } from '../../../crypto/key-file.ts';
import type { KeySet } from '../../../crypto/key-schedule.ts';
import { createSealedBox, SealBroken, type SealedBox } from '../../../crypto/sealed-box.ts';
import { InstallationMoved } from '../../storage.ts';

const canary = { text: 'gatehouse', context: 'Installation:1' } as const;

/** Rows of each table that are tried if a database has no canary. */
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

/**
 * Returns whether the keys open the rows of a database without a canary; a database without sealed rows fits any keys.
 */
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

/** Returns the canary of a database: a sealed row; undefined if it has none, as one of an earlier version. */
function findCanary(db: Database.Database): Buffer | undefined {
  if (!hasTable(db, 'installation')) return undefined;
  return db.prepare<[], Buffer>('SELECT canary FROM installation').pluck().get();
}

/**
 * Requires that the keys open the database, without changing it.
 * @param db an opened database of any schema version
 * @param keys keys of the key file
 * @throws KeyFileFault if the keys belong to another database (T-179)
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
 * Checks that database and key file belong together, by a canary that the first start stores (T-179).
 * @param db an opened, migrated database
 * @param keys keys of the key file
 * @throws KeyFileFault if the keys cannot open the database
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

/**
 * Requires that the installation was not moved to another database.
 * @param db an opened database of any schema version
 * @throws InstallationMoved
 */
export function requireNotMoved(db: Database.Database): void {
  const canBeMoved = db
    .prepare("SELECT 1 FROM pragma_table_info('installation') WHERE name = 'moved_to'")
    .get();
  const movedTo =
    canBeMoved && db.prepare<[], string | null>('SELECT moved_to FROM installation').pluck().get();
  if (typeof movedTo === 'string') throw new InstallationMoved(movedTo);
}
