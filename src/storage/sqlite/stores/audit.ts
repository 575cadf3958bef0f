import type Database from 'better-sqlite3';
import { hashRow, isSealedEnd, sealEnd, tamperingEvent } from '../../../crypto/audit-chain.ts';
import type { AuditEnd, AuditEntry, AuditQuery, AuditRow, AuditStore } from '../../audit.ts';
import type { Writer } from '../connection/writer.ts';

/** Rows dropped in one commit: small enough to not delay other writes. */
const batchSize = 500;

/** Appends an entry at the end of the running transaction. */
export type AppendAudit = (entry: AuditEntry) => void;

/**
 * Creates the audit log of a SQLite database.
 * @param keys holds the key that authenticates the rows; read for each row
 */
export function createAuditStore(
  db: Database.Database,
  writer: Writer,
  keys: { readonly audit: string },
): AuditStore & { appendWithin: AppendAudit } {
  const columns = 'seq, at, event, details, previous, hash';
  const insert = db.prepare<[number, number, string, string, string, string]>(
    `INSERT INTO audit (${columns}) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const newest = db.prepare<[], AuditRow>(`SELECT ${columns} FROM audit ORDER BY seq DESC LIMIT 1`);
  const findEnd = db.prepare<[string], AuditEnd>('SELECT seq, hash, mac FROM audit_ends WHERE name = ?');
  const putEnd = db.prepare<[AuditEnd & { name: string }]>(
    `INSERT INTO audit_ends (name, seq, hash, mac) VALUES (@name, @seq, @hash, @mac)
     ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, mac = excluded.mac`,
  );
  const oldest = db.prepare<[number], Pick<AuditRow, 'seq' | 'at' | 'hash'>>(
    'SELECT seq, at, hash FROM audit ORDER BY seq LIMIT ?',
  );
  const count = db.prepare<[], number>('SELECT count(*) FROM audit').pluck();
  const dropUpTo = db.prepare<[number]>('DELETE FROM audit WHERE seq <= ?');

  function add(
    { at, event, details }: AuditEntry,
    last: { seq: number; hash: string },
  ): { seq: number; hash: string } {
    const row = { seq: last.seq + 1, at, event, details: JSON.stringify(details), previous: last.hash };
    const hash = hashRow(keys.audit, row);
    insert.run(row.seq, at, event, row.details, row.previous, hash);
    return { seq: row.seq, hash };
  }

  /**
   * Returns whether the log ends as this program left it: a later row does not authenticate a foreign change to the
   * end.
   */
  function endsAsLeft(head: AuditEnd | undefined, last: AuditRow | undefined): boolean {
    if (!head) return last === undefined && findEnd.get('start') === undefined;
    const isLast =
      last === undefined
        ? findEnd.get('start')?.seq === head.seq
        : last.seq === head.seq && last.hash === head.hash;
    return isLast && isSealedEnd(keys.audit, 'head', head);
  }

  // Gathered, so that the end of the log is verified and sealed once per commit.
  const appendWithin = writer.gather<AuditEntry>((entries) => {
    const [first] = entries;
    if (!first) return;
    let end = checkedEnd(first.at);
    for (const entry of entries) end = add(entry, end);
    putEnd.run({ name: 'head', ...sealEnd(keys.audit, 'head', end.seq, end.hash) });
  });

  /** Returns the verified end of the log; appends a tampering event first if the end was changed. */
  function checkedEnd(at: number): { seq: number; hash: string } {
    const head = findEnd.get('head');
    const last = newest.get();
    if (endsAsLeft(head, last)) return head ?? { seq: 0, hash: '' };
    const farther = Math.max(head?.seq ?? 0, last?.seq ?? 0, findEnd.get('start')?.seq ?? 0);
    return add({ at, event: tamperingEvent, details: {} }, { seq: farther, hash: last?.hash ?? '' });
  }

  function conditions(query: AuditQuery): { where: string; values: unknown[] } {
    const { accountId, accountEmail, clientId } = query;
    const rules: [string, ...unknown[]][] = [
      ['seq > ?', query.after],
      ['at >= ?', query.since],
      ['at < ?', query.until],
      [query.event?.endsWith('.') ? "event GLOB ? || '*'" : 'event = ?', query.event],
      [
        `(details ->> 'accountId' = ? OR event GLOB 'account.*' AND lower(details ->> 'target') = ?)`,
        accountId,
        accountEmail ?? null,
      ],
      [
        `(details ->> 'clientId' = ? OR event GLOB 'client.*' AND details ->> 'target' = ?)`,
        clientId,
        clientId,
      ],
    ];
    const given = rules.filter(([, value]) => value !== undefined);
    return {
      where: given.length === 0 ? '' : `WHERE ${given.map(([rule]) => rule).join(' AND ')}`,
      values: given.flatMap(([, ...values]) => values),
    };
  }

  /** Drops a batch of the oldest rows and returns their number. */
  function dropBatch(before: number, maxRows: number): number {
    const surplus = (count.get() ?? 0) - maxRows;
    const rows = oldest.all(batchSize);
    const kept = rows.findIndex(({ at }, index) => at >= before && index >= surplus);
    const dropped = kept === -1 ? rows : rows.slice(0, kept);
    const last = dropped.at(-1);
    if (!last) return 0;
    dropUpTo.run(last.seq);
    putEnd.run({ name: 'start', ...sealEnd(keys.audit, 'start', last.seq, last.hash) });
    return dropped.length;
  }

  return {
    appendWithin,
    async append(entries) {
      if (entries.length > 0)
        await writer.write(() => {
          for (const entry of entries) appendWithin(entry);
        });
    },
    async read(query) {
      const { where, values } = conditions(query);
      const order = query.newestFirst ? 'DESC' : 'ASC';
      return db
        .prepare<unknown[], AuditRow>(`SELECT ${columns} FROM audit ${where} ORDER BY seq ${order} LIMIT ?`)
        .all(...values, query.limit);
    },
    ends: async () => ({ start: findEnd.get('start'), head: findEnd.get('head') }),
    async prune({ before, maxRows }) {
      let removed = 0;
      for (let batch = batchSize; batch === batchSize; removed += batch)
        batch = await writer.write(() => dropBatch(before, maxRows));
      return removed;
    },
  };
}
