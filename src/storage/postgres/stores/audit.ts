import { hashRow, isSealedEnd, sealEnd, tamperingEvent } from '../../../crypto/audit-chain.ts';
import type { AuditEnd, AuditEntry, AuditQuery, AuditRow, AuditStore } from '../../audit.ts';
import type { Database, Value } from '../connection/database.ts';
import type { Transaction, Writer } from '../connection/writer.ts';

/** Rows dropped in one commit: small enough to not delay other writes. */
const batchSize = 500;

/** Appends an entry at the end of the running transaction. */
export type AppendAudit = (entry: AuditEntry) => void;

const columns = 'seq, at, event, details, previous, hash';

const sql = {
  insert: `INSERT INTO audit (${columns})
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])`,
  ends: `SELECT name, seq, hash, mac FROM audit_ends
     UNION ALL (SELECT 'last', seq, hash, '' FROM audit ORDER BY seq DESC LIMIT 1)`,
  putEnd: `INSERT INTO audit_ends (name, seq, hash, mac) VALUES ($1, $2, $3, $4)
     ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac`,
  oldest: 'SELECT seq, at, hash FROM audit ORDER BY seq LIMIT $1',
  count: 'SELECT count(*) AS rows FROM audit',
  dropUpTo: 'DELETE FROM audit WHERE seq <= $1',
} as const;

/** The ends of the log as stored, and its last row. */
type Ends = Partial<Record<'start' | 'head' | 'last', AuditEnd>>;

/** A row without its time and event: the place that the next one follows. */
type Place = Pick<AuditRow, 'seq' | 'hash'>;

/**
 * Creates the audit log of a PostgreSQL database: one chain over all nodes, as their writes are serial.
 * @param keys holds the key that authenticates the rows; read for each row
 */
export function createAuditStore(
  db: Pick<Database, 'rows'>,
  writer: Pick<Writer, 'write' | 'gather'>,
  keys: { readonly audit: string },
): AuditStore & { appendWithin: AppendAudit } {
  async function readEnds(reader: Pick<Transaction, 'rows'>): Promise<Ends> {
    const rows = await reader.rows<AuditEnd & { name: keyof Ends }>(sql.ends);
    return Object.fromEntries(rows.map(({ name, ...end }) => [name, end]));
  }

  function chain({ at, event, details }: AuditEntry, last: Place): AuditRow {
    // PostgreSQL reads no NUL from JSON either, so it is replaced before the row is hashed.
    const text = JSON.stringify(details, (_name, value: unknown) =>
      typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value,
    );
    const row = { seq: last.seq + 1, at, event, details: text, previous: last.hash };
    return { ...row, hash: hashRow(keys.audit, row) };
  }

  /**
   * Returns whether the log ends as this program left it: a later row does not authenticate a foreign change to the
   * end.
   */
  function endsAsLeft({ start, head, last }: Ends): boolean {
    if (!head) return last === undefined && start === undefined;
    const isLast =
      last === undefined ? start?.seq === head.seq : last.seq === head.seq && last.hash === head.hash;
    return isLast && isSealedEnd(keys.audit, 'head', head);
  }

  /** Returns the rows to append; one of a tampering event first if the end of the log was changed. */
  function chainAll(entries: readonly AuditEntry[], ends: Ends): AuditRow[] {
    const rows: AuditRow[] = [];
    const add = (entry: AuditEntry, last: Place): void => void rows.push(chain(entry, last));
    let last: Place = ends.head ?? { seq: 0, hash: '' };
    if (!endsAsLeft(ends)) {
      const farther = Math.max(ends.head?.seq ?? 0, ends.last?.seq ?? 0, ends.start?.seq ?? 0);
      last = { seq: farther, hash: ends.last?.hash ?? '' };
      add({ at: entries[0]?.at ?? 0, event: tamperingEvent, details: {} }, last);
    }
    for (const entry of entries) add(entry, rows.at(-1) ?? last);
    return rows;
  }

  function putEnd(tx: Transaction, name: 'start' | 'head', { seq, hash }: Place): void {
    const end = sealEnd(keys.audit, name, seq, hash);
    tx.send(sql.putEnd, [name, end.seq, end.hash, end.mac]);
  }

  // Gathered, so that the end of the log is verified and sealed once per commit.
  const appendWithin = writer.gather<AuditEntry, Ends>({
    read: readEnds,
    finish(tx, entries, ends) {
      const rows = chainAll(entries, ends);
      const column = (name: keyof AuditRow): string[] => rows.map((row) => String(row[name]));
      tx.send(sql.insert, [
        ...[column('seq'), column('at'), column('event')],
        ...[column('details'), column('previous'), column('hash')],
      ]);
      const head = rows.at(-1);
      if (head) putEnd(tx, 'head', head);
    },
  });

  /** Drops a batch of the oldest rows and returns their number. */
  async function dropBatch(tx: Transaction, before: number, maxRows: number): Promise<number> {
    const count = await tx.row<{ rows: number }>(sql.count);
    const surplus = (count?.rows ?? 0) - maxRows;
    const rows = await tx.rows<Pick<AuditRow, 'seq' | 'at' | 'hash'>>(sql.oldest, [batchSize]);
    const kept = rows.findIndex(({ at }, index) => at >= before && index >= surplus);
    const dropped = kept === -1 ? rows : rows.slice(0, kept);
    const last = dropped.at(-1);
    if (!last) return 0;
    tx.send(sql.dropUpTo, [last.seq]);
    putEnd(tx, 'start', last);
    return dropped.length;
  }

  return {
    appendWithin,
    async append(entries) {
      if (entries.length === 0) return;
      await writer.write(
        async () => {
          for (const entry of entries) appendWithin(entry);
        },
        { inOneFlight: true },
      );
    },
    async read(query) {
      const { where, values } = conditionsOf(query);
      const order = query.newestFirst ? 'DESC' : 'ASC';
      return db.rows<AuditRow>(
        `SELECT ${columns} FROM audit ${where} ORDER BY seq ${order} LIMIT $${values.length + 1}`,
        [...values, query.limit],
      );
    },
    async ends() {
      const { start, head } = await readEnds(db);
      return { start, head };
    },
    async prune({ before, maxRows }) {
      let removed = 0;
      for (let batch = batchSize; batch === batchSize; removed += batch)
        batch = await writer.write((tx) => dropBatch(tx, before, maxRows));
      return removed;
    },
  };
}

/** Returns the conditions of a query, as SQL with its parameters. */
function conditionsOf(query: AuditQuery): { where: string; values: Value[] } {
  const values: Value[] = [];
  const rules: string[] = [];
  /** Adds a rule, in which `?` stands for the value. */
  const add = (rule: string, value: Value): void => {
    if (value === undefined) return;
    values.push(value);
    rules.push(rule.replaceAll('?', `$${values.length}`));
  };
  const { accountId, accountEmail, clientId, event } = query;
  add('seq > ?', query.after);
  add('at >= ?', query.since);
  add('at < ?', query.until);
  add(event?.endsWith('.') ? 'starts_with(event, ?)' : 'event = ?', event);
  if (accountId !== undefined) {
    values.push(accountId, accountEmail);
    const [id, email] = [`$${values.length - 1}`, `$${values.length}::text`];
    rules.push(
      `(details::json ->> 'accountId' = ${id}
         OR starts_with(event, 'account.') AND lower(details::json ->> 'target' COLLATE "C") = ${email})`,
    );
  }
  add(
    `(details::json ->> 'clientId' = ? OR starts_with(event, 'client.') AND details::json ->> 'target' = ?)`,
    clientId,
  );
  return { where: rules.length === 0 ? '' : `WHERE ${rules.join(' AND ')}`, values };
}
