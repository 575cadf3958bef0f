import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { sealingKeyOf } from '../../../crypto/sealed-box.ts';
import { type SealedColumn, sealedColumns } from '../../sealed-columns.ts';
import type { SealedRows } from '../../storage.ts';
import type { Writer } from '../connection/writer.ts';

/** Rows read in one turn and written in one commit: small enough to not delay other writes. */
const batchSize = 200;

type Value = string | number;

interface Row {
  key: Value[];
  parts: string[];
  sealed: Buffer;
  /** The value as stored. */
  stored: string | Buffer;
}

/** Reads a column in the order of its key, one batch at a time. */
function prepareReading(db: Database.Database, column: SealedColumn): (after: Value[] | undefined) => Row[] {
  const { table, column: sealed, key, parts, form } = column;
  const names = [...key, ...parts, sealed].join(', ');
  const place = `AND (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
  const select = (where: string): Database.Statement<Value[]> =>
    db
      .prepare<Value[]>(
        `SELECT ${names} FROM ${table} WHERE ${sealed} IS NOT NULL ${where} ORDER BY ${key.join(', ')} LIMIT ${batchSize}`,
      )
      .raw();
  const [first, next] = [select(''), select(place)];
  return (after) => {
    const rows = (after ? next.all(...after) : first.all()) as (Value | Buffer)[][];
    return rows.map((values) => {
      const stored = values.at(-1) as string | Buffer;
      return {
        key: values.slice(0, key.length) as Value[],
        parts: values.slice(key.length, -1).map(String),
        stored,
        sealed: form === 'text' ? Buffer.from(String(stored), 'base64url') : (stored as Buffer),
      };
    });
  };
}

/** Creates the view of all sealed values in a SQLite database. */
export function createSealedRows(db: Database.Database, writer: Writer): SealedRows {
  const columns = sealedColumns.map((column) => {
    const { table, column: sealed, key } = column;
    const conditions = [...key, sealed].map((name) => `${name} = ?`).join(' AND ');
    return {
      ...column,
      read: prepareReading(db, column),
      // Only if unchanged since it was read: a concurrent writer has sealed it with the present key.
      write: db.prepare(`UPDATE ${table} SET ${sealed} = ? WHERE ${conditions}`),
    };
  });

  async function* batches(): AsyncGenerator<{ column: (typeof columns)[number]; rows: Row[] }> {
    for (const column of columns) {
      let after: Value[] | undefined;
      for (let rows = column.read(after); rows.length > 0; rows = column.read(after)) {
        yield { column, rows };
        after = rows.at(-1)?.key;
        if (rows.length < batchSize) break;
        await nextTurn();
      }
    }
  }

  return {
    async countByKey() {
      const counts = new Map<string, number>();
      for await (const { rows } of batches())
        for (const { sealed } of rows) {
          const id = sealingKeyOf(sealed) ?? '';
          counts.set(id, (counts.get(id) ?? 0) + 1);
        }
      return counts;
    },
    async reseal(keyId, reseal) {
      for await (const { column, rows } of batches()) {
        const resealed = rows.flatMap(({ key, parts, sealed, stored }) => {
          const fresh = sealingKeyOf(sealed) === keyId && reseal(sealed, column.context(...parts));
          if (!fresh) return [];
          const bytes = Buffer.from(fresh);
          return [[column.form === 'text' ? bytes.toString('base64url') : bytes, ...key, stored]];
        });
        if (resealed.length === 0) continue;
        await writer.write(() => {
          for (const values of resealed) column.write.run(...values);
        });
      }
    },
  };
}
