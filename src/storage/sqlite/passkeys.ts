import type Database from 'better-sqlite3';
import type { PasskeyStore, StoredPasskey } from '../passkeys.ts';
import { createWaysIn } from './ways-in.ts';
import type { Writer } from './writer.ts';

interface Row {
  id: string;
  accountId: string;
  name: string;
  publicKey: Buffer;
  counter: number;
  isSynced: number;
  transports: string;
  createdAt: number;
  usedAt: number | null;
}

function toPasskey({ usedAt, ...row }: Row): StoredPasskey {
  return {
    ...row,
    isSynced: row.isSynced === 1,
    transports: JSON.parse(row.transports) as string[],
    ...(usedAt === null ? undefined : { usedAt }),
  };
}

/** The passkeys of a SQLite database. */
export function createPasskeyStore(db: Database.Database, writer: Writer): PasskeyStore {
  const columns = `id, account_id AS accountId, name, public_key AS publicKey, counter, is_synced AS isSynced, transports,
    created_at AS createdAt, used_at AS usedAt`;
  const add = db.prepare(
    `INSERT INTO passkeys (id, account_id, name, public_key, counter, is_synced, transports, created_at)
     SELECT @id, id, @name, @publicKey, @counter, @isSynced, @transports, @createdAt FROM accounts
     WHERE id = @accountId AND (SELECT count(*) FROM passkeys WHERE account_id = @accountId) < @most
     ON CONFLICT (id) DO NOTHING`,
  );
  const find = db.prepare<[string], Row>(`SELECT ${columns} FROM passkeys WHERE id = ?`);
  const listOf = db.prepare<[string], Row>(
    `SELECT ${columns} FROM passkeys WHERE account_id = ? ORDER BY created_at, id`,
  );
  const any = db.prepare('SELECT 1 FROM passkeys LIMIT 1');
  const use = db.prepare(
    `UPDATE passkeys SET counter = @counter, used_at = @at
     WHERE id = @id AND (counter < @counter OR (counter = 0 AND @counter = 0))`,
  );
  const rename = db.prepare('UPDATE passkeys SET name = ? WHERE account_id = ? AND id = ?');
  const remove = db.prepare('DELETE FROM passkeys WHERE account_id = ? AND id = ?');
  const waysIn = createWaysIn(db);

  return {
    add: (passkey, most) =>
      writer.write(
        () =>
          add.run({
            ...passkey,
            isSynced: passkey.isSynced ? 1 : 0,
            transports: JSON.stringify(passkey.transports),
            most,
          }).changes === 1,
      ),
    async find(id) {
      const row = find.get(id);
      return row && toPasskey(row);
    },
    listOf: async (accountId) => listOf.all(accountId).map(toPasskey),
    isAnyKept: async () => any.get() !== undefined,
    use: (id, counter, at) => writer.write(() => use.run({ id, counter, at }).changes === 1),
    rename: (accountId, id, name) => writer.write(() => rename.run(name, accountId, id).changes === 1),
    remove: (accountId, id, issuers) =>
      writer.write(() => waysIn(accountId, issuers, () => remove.run(accountId, id).changes === 1)),
  };
}
