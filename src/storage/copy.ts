import { createHash } from 'node:crypto';
import { type ChainEnd, type ChainLink, checkChain } from '../crypto/audit-chain.ts';
import { KeyFileFault, parseKeyFile } from '../crypto/key-file.ts';
import { type KeySchedule, keysAt } from '../crypto/key-schedule.ts';
import { createSealedBox, SealBroken } from '../crypto/sealed-box.ts';
import {
  type CopiedRow,
  type CopiedTable,
  type CopyEnd,
  type CopySource,
  type CopyTarget,
  copiedTables,
} from './copied-tables.ts';
import { StorageFault } from './storage.ts';

/** A copied table: the same at both ends. */
export interface CopiedContent {
  name: string;
  rows: number;
  /** SHA-256 over the rows in the order of the key, a line of JSON for each; hexadecimal. */
  sha256: string;
}

/** A finished copy. */
export interface CopiedInstallation {
  tables: CopiedContent[];
  /** Number of faults of the audit log, which the source has, too. */
  auditFaults: number;
}

/** The work of a moment. */
export interface CopyProgress {
  step: 'copy' | 'check';
  table: string;
  /** Rows of all tables that this step is done with. */
  done: number;
  total: number;
}

/** Options of {@link copyInstallation}. */
export interface CopyOptions {
  /** Marks the source as moved. */
  moves: boolean;
  onProgress?: (progress: CopyProgress) => void;
  /** Epoch seconds. */
  now: number;
}

/**
 * Copies an installation to another database, and compares both: each table by its number of rows and their digest, the
 * audit log by its chain, the keys by the canary. The target is committed only if all are equal, and the source is
 * marked as moved with it. The caller closes both.
 * @throws StorageFault, KeyFileFault with a sentence that says what to do; nothing was copied then
 */
export async function copyInstallation(
  source: CopySource,
  target: CopyTarget,
  { moves, onProgress = () => undefined, now }: CopyOptions,
): Promise<CopiedInstallation> {
  if (source.schemaVersion !== target.schemaVersion)
    throw new StorageFault(
      `The source is of schema ${source.schemaVersion}, the target of schema ${target.schemaVersion}. ${source.schemaVersion < target.schemaVersion ? 'Upgrade the source first: start its server once with this program, and stop it.' : 'Use the newer program that wrote the source.'} Nothing was copied.`,
    );
  const text = await source.readKeys();
  const keys = parseKeyFile(text, now);
  await requireNoNul(source);
  let total = 0;
  for (const table of copiedTables) total += await source.count(table);

  /** Reads all tables of an end in order. */
  async function readAll(
    end: CopyEnd,
    step: CopyProgress['step'],
    take: (table: CopiedTable, rows: CopiedRow[]) => Promise<void>,
  ): Promise<CopiedInstallation> {
    const inspection = createInspection(keys, now);
    const tables: CopiedContent[] = [];
    let done = 0;
    for (const table of copiedTables) {
      const digest = createHash('sha256');
      let rows = 0;
      for (let last: CopiedRow | undefined; ; ) {
        onProgress({ step, table: table.name, done, total });
        const batch = await end.read(table, last);
        for (const row of batch) digest.update(`${toLine(row)}\n`);
        inspection.add(table, batch);
        await take(table, batch);
        rows += batch.length;
        done += batch.length;
        last = batch.at(-1);
        if (batch.length < table.batch) break;
      }
      tables.push({ name: table.name, rows, sha256: digest.digest('hex') });
    }
    return { tables, auditFaults: inspection.finish() };
  }

  const read = await readAll(source, 'copy', (table, rows) => target.write(table, rows));
  for (const table of copiedTables)
    if (table.numbered !== undefined) await target.setLastNumber(table, await source.lastNumber(table));
  await target.writeKeys(text);
  const written = await readAll(target, 'check', async () => undefined);
  requireEqual(read, written);
  if ((await target.readKeys()) !== text) throw new StorageFault(`The keys ${differ}`);
  if (moves) await source.markMoved(target.description);
  await target.commit();
  try {
    await source.commit();
  } catch (cause) {
    throw new StorageFault(
      `The copy is complete and checked, but ${source.description} could not be marked as moved. Start no server there: tokens would be used at both places.`,
      { cause },
    );
  }
  return written;
}

const differ = 'differ between source and copy. Nothing was copied: please report this.';

function requireEqual(read: CopiedInstallation, written: CopiedInstallation): void {
  const unequal = read.tables.filter(({ rows, sha256 }, index) => {
    const copy = written.tables[index];
    return copy?.rows !== rows || copy.sha256 !== sha256;
  });
  if (unequal.length > 0)
    throw new StorageFault(`The tables ${unequal.map(({ name }) => name).join(', ')} ${differ}`);
  if (read.auditFaults !== written.auditFaults) throw new StorageFault(`The audit logs ${differ}`);
}

/** @throws StorageFault if a text has a NUL character that the target could not hold */
async function requireNoNul(source: CopySource): Promise<void> {
  const found: string[] = [];
  for (const table of copiedTables)
    for (const { column, rows } of await source.findNul(table))
      found.push(`${table.name}.${column} (${rows} ${rows === 1 ? 'row' : 'rows'})`);
  if (found.length > 0)
    throw new StorageFault(
      `PostgreSQL holds no NUL character in a text, and these columns have some: ${found.join(', ')}. Remove or change these rows first. Nothing was copied.`,
    );
}

function toLine(row: CopiedRow): string {
  return JSON.stringify(row.map((value) => (value instanceof Uint8Array ? [toBase64(value)] : value)));
}

function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Returns the rows of a batch with named values. */
function toObjects<Row>({ columns }: CopiedTable, rows: readonly CopiedRow[]): Row[] {
  const names = Object.keys(columns);
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])) as Row);
}

/**
 * Creates the inspection of an installation whose rows pass by, in the order of {@link copiedTables}: the keys must open
 * the canary, and the audit log is verified.
 * @returns `add` throws a KeyFileFault if the keys belong to another database; `finish` returns the number of faults of
 * the log
 */
function createInspection(
  schedule: KeySchedule,
  now: number,
): { add: (table: CopiedTable, rows: readonly CopiedRow[]) => void; finish: () => number } {
  const keys = keysAt(schedule, now);
  const box = createSealedBox(keys.sealing);
  const ends = new Map<string, ChainEnd>();
  let chain: ReturnType<typeof checkChain> | undefined;

  function requireCanary(sealed: Uint8Array): void {
    try {
      box.open(sealed, 'Installation:1');
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw new KeyFileFault('The keys belong to another database. Nothing was copied.', { cause: error });
    }
  }

  return {
    add(table, rows) {
      if (table.name === 'installation')
        for (const { canary } of toObjects<{ canary: Uint8Array }>(table, rows)) requireCanary(canary);
      if (table.name === 'audit_ends')
        for (const end of toObjects<ChainEnd & { name: string }>(table, rows)) ends.set(end.name, end);
      if (table.name !== 'audit') return;
      chain ??= checkChain(keys.audit, ends.get('start'));
      for (const row of toObjects<ChainLink>(table, rows)) chain.add(row);
    },
    finish: () => chain?.finish(ends.get('head')).length ?? 0,
  };
}
