import { KeyFileFault } from '../../crypto/key-file.ts';
import { keysAt } from '../../crypto/key-schedule.ts';
import type { SealingKey } from '../../crypto/sealed-box.ts';
import { removeIssued } from '../copied-tables.ts';
import { StorageFault } from '../storage.ts';
import { findServer } from './connection/change-marks.ts';
import { type ConnectionOptions, createStatements } from './connection/database.ts';
import { toOpeningFault } from './connection/errors.ts';
import { type MigrationOptions, migrate } from './connection/migrate.ts';
import { createWriterWithin } from './connection/writer.ts';
import { holdDatabase } from './held-database.ts';
import { checkInstallation, requireNotMoved } from './installation.ts';
import { createScheduleBox, readSchedule, readSealed } from './key-schedule.ts';
import { type AppendAudit, createAuditStore } from './stores/audit.ts';

/** Options of {@link acceptDatabase}. */
export interface RecoveryOptions extends ConnectionOptions, MigrationOptions {
  masterKey: () => Promise<SealingKey>;
  /** True if the database has all acknowledged commits: then nothing ends, and servers may run. */
  keepLogins: boolean;
  /**
   * Writes the audit event, which is committed with the rest.
   * @param asOf time of the last event that the database has, epoch seconds; undefined if it has none
   */
  note: (append: AppendAudit, asOf: number | undefined) => Promise<void>;
}

/**
 * Accepts a database that may lack acknowledged commits, after a failover or from a dump: all that was issued ends
 * (T-173), in one transaction with its audit event.
 * @throws StorageFault, KeyFileFault with a sentence that says what to do; nothing was changed then
 */
export async function acceptDatabase({
  masterKey,
  keepLogins,
  note,
  ...options
}: RecoveryOptions): Promise<void> {
  try {
    const now = Math.floor(Date.now() / 1000);
    // A database that is refused is not upgraded.
    const sealed = await readHeld(options, keepLogins);
    const key = await masterKey();
    createScheduleBox(key, () => now).open(sealed);
    await migrate(options, options);
    const client = await holdDatabase(options, { exclusively: !keepLogins });
    try {
      const db = createStatements(client, { pooled: true });
      await requireNotMoved(db);
      const keys = keysAt(await readSchedule(db, key, () => now), now);
      const writer = createWriterWithin(client);
      await checkInstallation(db, writer, keys);
      const { appendWithin } = createAuditStore(db, writer, keys);
      const last = await db.row<{ at: number | null }>('SELECT max(at) AS at FROM audit');
      await writer.write(async (tx) => {
        if (!keepLogins) for (const statement of removeIssued) tx.send(statement);
        await note(appendWithin, last?.at ?? undefined);
      });
      await client.query('COMMIT');
      await db.run('UPDATE installation SET server = $1', [await findServer(db)]);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw toOpeningFault(error);
  }
}

/**
 * Holds the database for a moment only: a program may take its time to print the master key, and servers wait meanwhile.
 * @returns the sealed keys
 * @throws StorageFault if the database cannot be accepted
 */
async function readHeld(options: ConnectionOptions, keepLogins: boolean): Promise<Buffer | undefined> {
  const client = await holdDatabase(options, { exclusively: !keepLogins });
  try {
    const db = createStatements(client, { pooled: true });
    await requireNotMoved(db);
    return await readSealed(db);
  } finally {
    await client.end();
  }
}

/** Options of {@link rewrapKeys}. */
export interface RewrapOptions extends ConnectionOptions {
  masterKey: SealingKey;
  newMasterKey: SealingKey;
  /** Writes the audit event, which is committed with the rest. */
  note: (append: AppendAudit) => Promise<void>;
}

/**
 * Seals the keys of an installation under another master key, in one transaction with the audit event. Servers may run:
 * they have the keys opened.
 * @returns false if they were sealed under it already, as after a command whose end nobody saw
 * @throws StorageFault, KeyFileFault with a sentence that says what to do; nothing was changed then
 */
export async function rewrapKeys({
  masterKey,
  newMasterKey,
  note,
  ...options
}: RewrapOptions): Promise<boolean> {
  try {
    const client = await holdDatabase(options, { exclusively: false });
    try {
      const db = createStatements(client, { pooled: true });
      await requireNotMoved(db);
      const now = (): number => Math.floor(Date.now() / 1000);
      if (await opens(readSchedule(db, newMasterKey, now))) return false;
      if (masterKey.key === newMasterKey.key)
        throw new StorageFault(
          'The old and the new master key are the same, and the keys are sealed under another one. Name the place of the old one in storage.masterKey; nothing was changed.',
        );
      const schedule = await readSchedule(db, masterKey, now);
      const keys = keysAt(schedule, now());
      const writer = createWriterWithin(client);
      await checkInstallation(db, writer, keys);
      const { appendWithin } = createAuditStore(db, writer, keys);
      await writer.write(async (tx) => {
        tx.send('UPDATE key_schedule SET sealed = $1', [createScheduleBox(newMasterKey, now).seal(schedule)]);
        await note(appendWithin);
      });
      await readSchedule(db, newMasterKey, now);
      await client.query('COMMIT').catch((cause: unknown) => {
        throw new StorageFault(
          'The connection to PostgreSQL was lost during the commit: either master key may be the valid one. Run the command again with the same keys, it says which.',
          { cause },
        );
      });
      return true;
    } finally {
      await client.end();
    }
  } catch (error) {
    throw toOpeningFault(error);
  }
}

/** Returns whether keys could be read. */
async function opens(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (error instanceof KeyFileFault) return false;
    throw error;
  }
}
