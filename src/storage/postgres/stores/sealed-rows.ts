import { sealingKeyOf } from '../../../crypto/sealed-box.ts';
import { type SealedColumn, sealedColumns } from '../../sealed-columns.ts';
import type { SealedRows } from '../../storage.ts';
import type { Database, Value } from '../connection/database.ts';
import type { Writer } from '../connection/writer.ts';

/** Rows read and written at once: small enough to not delay other writes. */
const batchSize = 200;

interface Row {
  key: Value[];
  parts: string[];
  sealed: Buffer;
  /** The value as stored. */
  stored: string | Buffer;
}

/** A column with its statements. */
interface Column extends SealedColumn {
  first: string;
  next: string;
  write: string;
}

function toColumn(column: SealedColumn): Column {
  const { table, column: sealed, key, parts } = column;
  const named = [
    ...key.map((name, index) => `${name} AS key${index}`),
    ...parts.map((part, index) => `${part} AS part${index}`),
  ].join(', ');
  const place = `(${key.join(', ')}) > (${key.map((_name, index) => `$${index + 1}`).join(', ')})`;
  const select = (where: string): string =>
    `SELECT ${named}, ${sealed} AS sealed FROM ${table} WHERE ${sealed} IS NOT NULL ${where}
     ORDER BY ${key.join(', ')} LIMIT ${batchSize}`;
  const conditions = [sealed, ...key].map((name, index) => `${name} = $${index + 2}`).join(' AND ');
  return {
    ...column,
    first: select(''),
    next: select(`AND ${place}`),
    // Only if unchanged since it was read: a concurrent writer has sealed it with the present key.
    write: `UPDATE ${table} SET ${sealed} = $1 WHERE ${conditions}`,
  };
}

function toRow({ key, parts, form }: Column, row: Record<string, Value>): Row {
  const stored = row.sealed as string | Buffer;
  return {
    key: key.map((_name, index) => row[`key${index}`]),
    parts: parts.map((_part, index) => String(row[`part${index}`])),
    stored,
    sealed: form === 'text' ? Buffer.from(String(stored), 'base64url') : (stored as Buffer),
  };
}

/** Creates the view of all sealed values in a PostgreSQL database. */
export function createSealedRows(db: Database, writer: Writer): SealedRows {
  const columns = sealedColumns.map(toColumn);

  /** Reads all columns in the order of their keys, one batch at a time. */
  async function* batches(): AsyncGenerator<{ column: Column; rows: Row[] }> {
    for (const column of columns) {
      let after: Value[] | undefined;
      do {
        const found = await db.rows<Record<string, Value>>(after ? column.next : column.first, after);
        const rows = found.map((row) => toRow(column, row));
        if (rows.length > 0) yield { column, rows };
        after = rows.length === batchSize ? rows.at(-1)?.key : undefined;
      } while (after);
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
        const resealed = rows.flatMap(({ key, parts, sealed, stored }): Value[][] => {
          const fresh = sealingKeyOf(sealed) === keyId && reseal(sealed, column.context(...parts));
          if (!fresh) return [];
          const bytes = Buffer.from(fresh);
          return [[column.form === 'text' ? bytes.toString('base64url') : bytes, stored, ...key]];
        });
        if (resealed.length === 0) continue;
        await writer.write(
          async (tx) => {
            for (const values of resealed) tx.send(column.write, values);
          },
          { inOneFlight: true },
        );
      }
    },
  };
}
