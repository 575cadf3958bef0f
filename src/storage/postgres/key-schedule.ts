import { formatKeyFile, generateSchedule, KeyFileFault, parseKeyFile } from '../../crypto/key-file.ts';
import type { KeyStore } from '../../crypto/key-ring.ts';
import type { KeySchedule } from '../../crypto/key-schedule.ts';
import { createSealedBox, SealBroken, type SealingKey } from '../../crypto/sealed-box.ts';
import type { ChangeMarks } from './connection/change-marks.ts';
import type { Statements } from './connection/database.ts';
import type { Writer } from './connection/writer.ts';

const context = 'KeySchedule:1';
const find = 'SELECT sealed FROM key_schedule';

interface Row {
  sealed: Buffer;
}

/** Returns whether a database has keys already. */
export async function holdsKeys(db: Statements): Promise<boolean> {
  return (await db.row(find)) !== undefined;
}

/**
 * Seals and opens the keys of an installation under its master key.
 * @param now returns epoch seconds
 */
export function createScheduleBox(
  masterKey: SealingKey,
  now: () => number,
): { seal: (schedule: KeySchedule) => Buffer; open: (sealed: Buffer | undefined) => KeySchedule } {
  const box = createSealedBox([masterKey]);
  return {
    seal: (schedule) => box.seal(formatKeyFile(schedule), context),
    open(sealed = Buffer.alloc(0)) {
      try {
        return parseKeyFile(box.open(sealed, context), now());
      } catch (cause) {
        if (!(cause instanceof SealBroken)) throw cause;
        throw new KeyFileFault(
          'The keys in the database are sealed under another master key. Give this node the master key of the others; nothing was changed.',
          { cause },
        );
      }
    },
  };
}

/** Reads the keys of an installation as they are stored. */
export async function readSealed(db: Pick<Statements, 'row'>): Promise<Buffer | undefined> {
  return (await db.row<Row>(find))?.sealed;
}

/** Reads the keys of an installation. @throws KeyFileFault if the master key does not open them */
export async function readSchedule(
  db: Pick<Statements, 'row'>,
  masterKey: SealingKey,
  now: () => number,
): Promise<KeySchedule> {
  return createScheduleBox(masterKey, now).open(await readSealed(db));
}

/** Pause between two requests for the master key after the keys were sealed under another one, in milliseconds. */
const askAgainMs = 10_000;

/**
 * Opens the keys of an installation in its database, one set for all nodes, sealed under the master key. Those of a new
 * installation are created. What another node changes is known within a second. If the keys are sealed under another
 * master key meanwhile, those in use stay until the source has that one.
 * @param options.isNew true if the database has no keys yet
 * @param options.now returns epoch seconds
 * @throws KeyFileFault if the master key does not open them
 */
export async function openKeySchedule(
  { db, writer, marks }: { db: Statements; writer: Writer; marks: ChangeMarks },
  {
    masterKey,
    isNew,
    now,
  }: { masterKey: (isNew: boolean) => Promise<SealingKey>; isNew: boolean; now: () => number },
): Promise<KeyStore> {
  let box = createScheduleBox(await masterKey(isNew), now);
  /** The mark from before the keys were read: a change meanwhile is read again. */
  let mark = marks.of('key_schedule');
  if (isNew) {
    const first = box.seal(await generateSchedule(now()));
    await writer.write((tx) =>
      tx.run('INSERT INTO key_schedule (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING', [first]),
    );
  }
  let schedule = box.open((await db.row<Row>(find))?.sealed);
  let isReading = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** Problem of the last reading. */
  let fault: unknown;

  /** Asks for the master key again, as an operator may have replaced it. */
  async function openAnew({ sealed }: Row, error: unknown): Promise<KeySchedule> {
    if (!(error instanceof KeyFileFault) || performance.now() - askedAt < askAgainMs) throw error;
    askedAt = performance.now();
    const other = createScheduleBox(await masterKey(false), now);
    const opened = other.open(sealed);
    box = other;
    return opened;
  }

  async function readAgain(): Promise<void> {
    const before = marks.of('key_schedule');
    const row = await db.row<Row>(find);
    try {
      schedule = box.open(row?.sealed);
    } catch (error) {
      if (!row) throw error;
      schedule = await openAnew(row, error);
    }
    fault = undefined;
    mark = before;
  }

  return {
    read() {
      if (fault !== undefined) throw fault;
      return schedule;
    },
    mark() {
      if (marks.of('key_schedule') !== mark && !isReading) {
        isReading = true;
        void readAgain()
          .catch((error: unknown) => {
            fault = error;
          })
          .finally(() => {
            isReading = false;
          });
      }
      return fault === undefined ? String(mark) : `${mark}, not read`;
    },
    async change(work) {
      const result = await writer.write(async (tx) => {
        const { result: made, next } = work(box.open((await tx.row<Row>(find))?.sealed));
        if (next) await tx.run('UPDATE key_schedule SET sealed = $1', [box.seal(next)]);
        return made;
      });
      await readAgain();
      return result;
    },
  };
}
