import type Database from 'better-sqlite3';
import type { OneTimeCodeStore, PasskeyStore, StoredOneTimeCodes, StoredPasskey } from '../../accounts.ts';
import type { Writer } from '../connection/writer.ts';
import { createLoginMethodGuard } from './accounts.ts';

/** Creates the store of one-time codes in a SQLite database. */
export function createOneTimeCodeStore(db: Database.Database, writer: Writer): OneTimeCodeStore {
  const enable = db.prepare(
    `INSERT INTO one_time_codes (account_id, secret, last_step, created_at)
     SELECT id, @secret, @lastStep, @createdAt FROM accounts WHERE id = @accountId
     ON CONFLICT (account_id) DO NOTHING`,
  );
  const find = db.prepare<[string], StoredOneTimeCodes>(
    `SELECT secret, last_step AS lastStep, created_at AS createdAt,
       (SELECT count(*) FROM recovery_codes WHERE recovery_codes.account_id = one_time_codes.account_id) AS recoveryCodesLeft
     FROM one_time_codes WHERE account_id = ?`,
  );
  const useStep = db.prepare(
    'UPDATE one_time_codes SET last_step = @step WHERE account_id = @accountId AND last_step < @step',
  );
  const addRecoveryCode = db.prepare('INSERT INTO recovery_codes (account_id, id) VALUES (?, ?)');
  const useRecoveryCode = db.prepare('DELETE FROM recovery_codes WHERE account_id = ? AND id = ?');
  const dropRecoveryCodes = db.prepare('DELETE FROM recovery_codes WHERE account_id = ?');
  const disable = db.prepare('DELETE FROM one_time_codes WHERE account_id = ?');

  return {
    enable: (accountId, codes, recoveryIds) =>
      writer.write(() => {
        if (enable.run({ accountId, ...codes }).changes === 0) return false;
        for (const id of recoveryIds) addRecoveryCode.run(accountId, id);
        return true;
      }),
    find: async (accountId) => find.get(accountId),
    useStep: (accountId, step) => writer.write(() => useStep.run({ accountId, step }).changes === 1),
    useRecoveryCode: (accountId, id) => writer.write(() => useRecoveryCode.run(accountId, id).changes === 1),
    replaceRecoveryCodes: (accountId, recoveryIds) =>
      writer.write(() => {
        if (!find.get(accountId)) return false;
        dropRecoveryCodes.run(accountId);
        for (const id of recoveryIds) addRecoveryCode.run(accountId, id);
        return true;
      }),
    disable: (accountId) => writer.write(() => disable.run(accountId).changes === 1),
  };
}

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

/** Creates the passkey store of a SQLite database. */
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
  const waysIn = createLoginMethodGuard(db);

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
    isAnyStored: async () => any.get() !== undefined,
    use: (id, counter, at) => writer.write(() => use.run({ id, counter, at }).changes === 1),
    rename: (accountId, id, name) => writer.write(() => rename.run(name, accountId, id).changes === 1),
    remove: (accountId, id, issuers) =>
      writer.write(() => waysIn(accountId, issuers, () => remove.run(accountId, id).changes === 1)),
  };
}
