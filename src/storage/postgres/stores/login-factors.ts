import type { OneTimeCodeStore, PasskeyStore, StoredOneTimeCodes, StoredPasskey } from '../../accounts.ts';
import type { Database } from '../connection/database.ts';
import type { Transaction, Writer } from '../connection/writer.ts';
import { keepLoginMethod } from './accounts.ts';

const codeSql = {
  enable: `INSERT INTO one_time_codes (account_id, secret, last_step, created_at)
     SELECT id, $2, $3, $4 FROM accounts WHERE id = $1 ON CONFLICT (account_id) DO NOTHING`,
  isEnabled: 'SELECT 1 AS found FROM one_time_codes WHERE account_id = $1',
  find: `SELECT secret, last_step AS "lastStep", created_at AS "createdAt",
       (SELECT count(*) FROM recovery_codes WHERE account_id = one_time_codes.account_id) AS "recoveryCodesLeft"
     FROM one_time_codes WHERE account_id = $1`,
  useStep: 'UPDATE one_time_codes SET last_step = $2 WHERE account_id = $1 AND last_step < $2',
  addRecoveryCodes: 'INSERT INTO recovery_codes (account_id, id) SELECT $1, unnest($2::text[])',
  useRecoveryCode: 'DELETE FROM recovery_codes WHERE account_id = $1 AND id = $2',
  dropRecoveryCodes: 'DELETE FROM recovery_codes WHERE account_id = $1',
  disable: 'DELETE FROM one_time_codes WHERE account_id = $1',
} as const;

/** Creates the store of one-time codes in a PostgreSQL database. */
export function createOneTimeCodeStore(db: Database, writer: Writer): OneTimeCodeStore {
  const changesOne = createRowChange(writer);
  return {
    enable: (accountId, { secret, lastStep, createdAt }, recoveryIds) =>
      writer.write(async (tx) => {
        if ((await tx.run(codeSql.enable, [accountId, secret, lastStep, createdAt])) === 0) return false;
        tx.send(codeSql.addRecoveryCodes, [accountId, recoveryIds]);
        return true;
      }),
    find: (accountId) => db.row<StoredOneTimeCodes>(codeSql.find, [accountId]),
    useStep: (accountId, step) => changesOne(codeSql.useStep, [accountId, step]),
    useRecoveryCode: (accountId, id) => changesOne(codeSql.useRecoveryCode, [accountId, id]),
    replaceRecoveryCodes: (accountId, recoveryIds) =>
      writer.write(async (tx) => {
        if (!(await tx.row(codeSql.isEnabled, [accountId]))) return false;
        tx.send(codeSql.dropRecoveryCodes, [accountId]);
        tx.send(codeSql.addRecoveryCodes, [accountId, recoveryIds]);
        return true;
      }),
    disable: (accountId) => changesOne(codeSql.disable, [accountId]),
  };
}

/** Runs one statement as a write; resolves with true if it has changed one row. */
function createRowChange(writer: Writer): (...statement: Parameters<Transaction['run']>) => Promise<boolean> {
  return (...statement) =>
    writer.write(async (tx) => (await tx.run(...statement)) === 1, { inOneFlight: true });
}

type Row = Omit<StoredPasskey, 'transports' | 'usedAt'> & { transports: string; usedAt: number | null };

function toPasskey({ usedAt, ...row }: Row): StoredPasskey {
  return {
    ...row,
    transports: JSON.parse(row.transports) as string[],
    ...(usedAt === null ? undefined : { usedAt }),
  };
}

const columns = `id, account_id AS "accountId", name, public_key AS "publicKey", counter, is_synced AS "isSynced", transports,
  created_at AS "createdAt", used_at AS "usedAt"`;

const passkeySql = {
  add: `INSERT INTO passkeys (id, account_id, name, public_key, counter, is_synced, transports, created_at)
     SELECT $1, id, $3, $4, $5, $6, $7, $8 FROM accounts
     WHERE id = $2 AND (SELECT count(*) FROM passkeys WHERE account_id = $2) < $9
     ON CONFLICT (id) DO NOTHING`,
  find: `SELECT ${columns} FROM passkeys WHERE id = $1`,
  listOf: `SELECT ${columns} FROM passkeys WHERE account_id = $1 ORDER BY created_at, id`,
  any: 'SELECT 1 AS found FROM passkeys LIMIT 1',
  use: `UPDATE passkeys SET counter = $2, used_at = $3
     WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0))`,
  rename: 'UPDATE passkeys SET name = $3 WHERE account_id = $1 AND id = $2',
  remove: 'DELETE FROM passkeys WHERE account_id = $1 AND id = $2',
} as const;

/** Creates the passkey store of a PostgreSQL database. */
export function createPasskeyStore(db: Database, writer: Writer): PasskeyStore {
  const changesOne = createRowChange(writer);
  return {
    add: ({ id, accountId, name, publicKey, counter, isSynced, transports, createdAt }, most) =>
      changesOne(passkeySql.add, [
        ...[id, accountId, name, publicKey, counter, isSynced],
        ...[JSON.stringify(transports), createdAt, most],
      ]),
    async find(id) {
      const row = await db.row<Row>(passkeySql.find, [id]);
      return row && toPasskey(row);
    },
    listOf: async (accountId) => (await db.rows<Row>(passkeySql.listOf, [accountId])).map(toPasskey),
    isAnyStored: async () => (await db.row(passkeySql.any)) !== undefined,
    use: (id, counter, at) => changesOne(passkeySql.use, [id, counter, at]),
    rename: (accountId, id, name) => changesOne(passkeySql.rename, [accountId, id, name]),
    remove: (accountId, id, issuers) =>
      writer.write((tx) =>
        keepLoginMethod(
          tx,
          accountId,
          issuers,
          async () => (await tx.run(passkeySql.remove, [accountId, id])) === 1,
        ),
      ),
  };
}
