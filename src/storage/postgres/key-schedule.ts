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

/**
 * Opens the keys of an installation in its database, one set for all nodes, sealed under the master key. Those of a new
 * installation are created. What another node changes is known within a second.
 * @param now returns epoch seconds
 * @throws KeyFileFault if the master key does not open them
 */
export async function openKeySchedule(
  { db, writer, marks }: { db: Statements; writer: Writer; marks: ChangeMarks },
  masterKey: SealingKey,
  now: () => number,
): Promise<KeyStore> {
  const { seal, open: unseal } = createScheduleBox(masterKey, now);
  const open = (row: Row | undefined): KeySchedule => unseal(row?.sealed);

  /** The mark from before the keys were read: a change meanwhile is read again. */
  let mark = marks.of('key_schedule');
  if (!(await holdsKeys(db))) {
    const first = seal(await generateSchedule(now()));
    await writer.write((tx) =>
      tx.run('INSERT INTO key_schedule (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING', [first]),
    );
  }
  let schedule = open(await db.row<Row>(find));
  let reading: Promise<void> | undefined;

  async function readAgain(): Promise<void> {
    const before = marks.of('key_schedule');
    schedule = open(await db.row<Row>(find));
    mark = before;
  }

  return {
    read: () => schedule,
    mark() {
      if (marks.of('key_schedule') !== mark)
        reading ??= readAgain().finally(() => {
          reading = undefined;
        });
      reading?.catch(() => undefined);
      return String(mark);
    },
    async change(work) {
      const result = await writer.write(async (tx) => {
        const { result: made, next } = work(open(await tx.row<Row>(find)));
        if (next) await tx.run('UPDATE key_schedule SET sealed = $1', [seal(next)]);
        return made;
      });
      await readAgain();
      return result;
    },
  };
}
