import type Database from 'better-sqlite3';
import type { OneTimeCodeStore, StoredOneTimeCodes } from '../one-time-codes.ts';
import type { Writer } from './writer.ts';

/** The one-time codes of a SQLite database. */
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
