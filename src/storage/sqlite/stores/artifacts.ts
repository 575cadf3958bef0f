import Database from 'better-sqlite3';
import { memoizeLast } from '../../../collections/caches.ts';
import {
  type ArtifactRow,
  type ArtifactStore,
  accessTokenRetentionSeconds,
  type Change,
  type Conflict,
  type GrantRow,
  type PutArtifact,
  usedRetentionSeconds,
} from '../../artifacts.ts';
import type { UpstreamBond } from '../../upstreams.ts';
import { type CacheRows, createRemovalCounter, type ForeignCommits } from '../connection/row-cache.ts';
import type { Writer } from '../connection/writer.ts';
import { createIdentityChanges } from './accounts.ts';
import { createArtifactCache } from './artifact-cache.ts';
import type { AppendAudit } from './audit.ts';
import { createClientChanges } from './clients.ts';
import { createUpstreamChanges } from './upstream-endings.ts';
import { selectBondOfArtifact } from './upstreams.ts';

class ConflictFound extends Error {
  readonly conflict: Conflict;
  constructor(conflict: Conflict) {
    super(conflict.reason);
    this.conflict = conflict;
  }
}

/** Resolution of the last use of a grant, in seconds: most refreshes need not write it. */
const useResolutionSeconds = 60;

/** A grant number that does not exist: the foreign key rejects rows that refer to it. */
const noGrant = 0;

interface Row {
  id: string;
  payload: Buffer;
  revision: number;
  consumed_at: number | null;
  used_from: string | null;
  expires_at: number;
}

function toArtifact(row: Row | undefined): ArtifactRow | undefined {
  if (!row) return undefined;
  return {
    id: row.id,
    payload: row.payload,
    revision: row.revision,
    expiresAt: row.expires_at,
    ...(row.consumed_at === null ? undefined : { consumedAt: row.consumed_at }),
    ...(row.used_from === null ? undefined : { usedFrom: row.used_from }),
  };
}

/** Parts that the artifact store shares with other stores of its connection. */
export interface ArtifactStoreParts {
  appendAudit: AppendAudit;
  cacheRows: CacheRows;
  foreignCommits: ForeignCommits;
}

/** Creates the artifact store of a SQLite database. */
export function createArtifactStore(
  db: Database.Database,
  writer: Writer,
  { appendAudit, cacheRows, foreignCommits }: ArtifactStoreParts,
): ArtifactStore {
  const columns = 'id, payload, revision, consumed_at, used_from, expires_at';
  const find = db.prepare<[string, string], Row>(
    `SELECT ${columns} FROM artifacts WHERE kind = ? AND id = ?`,
  );
  const findBond = db.prepare<[string, string], UpstreamBond>(selectBondOfArtifact);
  const findRevision = db
    .prepare<[string, string], number>('SELECT revision FROM artifacts WHERE kind = ? AND id = ?')
    .pluck();
  const filterPresent = db
    .prepare<[string, string], string>(
      'SELECT id FROM artifacts WHERE kind = ? AND id IN (SELECT value FROM json_each(?))',
    )
    .pluck();
  const removalMark = createRemovalCounter(db, foreignCommits);
  const artifactCache = createArtifactCache(removalMark);
  const findByUid = db.prepare<[string, string], Row>(
    `SELECT ${columns} FROM artifacts WHERE kind = ? AND uid = ?`,
  );
  const listOf = db.prepare<[string, string], Row>(
    `SELECT ${columns} FROM artifacts WHERE account_id = ? AND kind = ?`,
  );
  const listGrants = db.prepare<[string], Omit<GrantRow, 'usedAt'> & { usedAt: number | null }>(
    `SELECT id, client_id AS clientId, payload, used_at AS usedAt, expires_at AS expiresAt FROM grants
     WHERE account_id = ?`,
  );
  const findGrant = db.prepare<[string], Row>(
    `SELECT id, payload, 0 AS revision, NULL AS consumed_at, NULL AS used_from, expires_at
     FROM grants
     WHERE id = ?`,
  );
  const findCachedGrant = cacheRows('grants', (id) => findGrant.get(id));
  const putGrant = db.prepare(
    `INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES (@id, @accountId, @clientId, @payload, @expiresAt)
     ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`,
  );
  const useClient = db.prepare('UPDATE clients SET used_at = ? WHERE id = ?');
  // A use in the future was recorded before the clock was set back (T-176).
  const useGrant = db
    .prepare<{ grant: number; at: number }, string>(
      `UPDATE grants SET used_at = @at
       WHERE number = @grant AND coalesce(used_at, 0) NOT BETWEEN @at - ${useResolutionSeconds} AND @at
       RETURNING client_id`,
    )
    .pluck();
  const changeClient = createClientChanges(db, writer);
  const changeIdentity = createIdentityChanges(db);
  const changeUpstream = createUpstreamChanges(db);
  // Positional values: for named ones the driver reads the object once per name.
  const insert = `INSERT INTO artifacts (kind, id, grant_number, account_id, upstream_session_id, client_id, uid, payload, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const put = db.prepare(
    `${insert}
     ON CONFLICT (id, kind) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
       account_id = excluded.account_id, upstream_session_id = excluded.upstream_session_id, uid = excluded.uid,
       grant_number = coalesce(excluded.grant_number, grant_number), revision = revision + 1`,
  );
  const putNew = db.prepare(
    `${insert}
     ON CONFLICT (id, kind) DO NOTHING`,
  );
  const replace = db.prepare(
    `UPDATE artifacts SET payload = @payload, expires_at = @expiresAt, account_id = @accountId,
       upstream_session_id = @upstreamSessionId, uid = @uid, grant_number = coalesce(@grant, grant_number),
       revision = revision + 1
     WHERE kind = @kind AND id = @id AND revision = coalesce(@ifRevision, revision)`,
  );
  const useFresh = db.prepare<
    [number, string | null, string, string],
    { place: number; grant: number | null; expiresAt: number }
  >(
    `UPDATE artifacts SET consumed_at = ?, used_from = ?
     WHERE kind = ? AND id = ? AND consumed_at IS NULL
     RETURNING rowid AS place, grant_number AS grant, expires_at AS expiresAt`,
  );
  // A separate statement, as most rows live longer: writing an unchanged time costs as much as moving it in its index.
  const keepUntil = db.prepare<[number, number]>('UPDATE artifacts SET expires_at = ? WHERE rowid = ?');
  const remove = db.prepare('DELETE FROM artifacts WHERE kind = ? AND id = ?');
  const passwordHash = db
    .prepare('SELECT password_hash FROM accounts WHERE id = ? AND disabled_at IS NULL')
    .pluck();
  const findGrantNumber = db.prepare<[string], number>('SELECT number FROM grants WHERE id = ?').pluck();
  const removeGrant = db.prepare('DELETE FROM grants WHERE id = ?');
  const fail = db
    .prepare(
      'UPDATE artifacts SET failures = failures + 1 WHERE kind = ? AND id = ? AND consumed_at IS NULL RETURNING failures',
    )
    .pluck();

  const findNumber = (grantId: string): number => findGrantNumber.get(grantId) ?? noGrant;

  function putArtifact(change: PutArtifact, numberOf: (grantId: string) => number): void {
    const { kind, id, payload, expiresAt, ifRevision = null } = change;
    const { accountId = null, upstreamSessionId = null, clientId = null, uid = null } = change;
    const grant = change.grantId === undefined ? null : numberOf(change.grantId);
    const values = [kind, id, grant, accountId, upstreamSessionId, clientId, uid, payload, expiresAt];
    if (change.ifAbsent === true) {
      if (putNew.run(values).changes === 0) throw new ConflictFound({ reason: 'present', kind, id });
    } else if (ifRevision === null && change.ifPresent !== true) put.run(values);
    else {
      const row = { kind, id, grant, accountId, upstreamSessionId, uid, payload, expiresAt, ifRevision };
      if (replace.run(row).changes === 0) throw new ConflictFound({ reason: 'changed', kind, id });
    }
  }

  /** Consumes an artifact and records the use of its grant and client. */
  function useUp({ kind, id, at, usedFrom }: Extract<Change, { type: 'consume' }>): void {
    artifactCache.forget(kind, id);
    const used = useFresh.get(at, usedFrom ?? null, kind, id);
    if (!used) throw new ConflictFound({ reason: find.get(kind, id) ? 'consumed' : 'missing', kind, id });
    const until = at + usedRetentionSeconds;
    if (used.expiresAt < until) keepUntil.run(until, used.place);
    if (used.grant === null) return;
    const clientId = useGrant.get({ grant: used.grant, at });
    if (clientId !== undefined) changeClient({ type: 'useClient', clientId, at });
  }

  function apply(change: Change, numberOf: (grantId: string) => number): void {
    switch (change.type) {
      case 'putGrant':
        putGrant.run(change);
        useClient.run(change.at, change.clientId);
        return;
      case 'put':
        putArtifact(change, numberOf);
        return;
      case 'consume':
        useUp(change);
        return;
      case 'remove':
        if (remove.run(change.kind, change.id).changes === 0 && change.mustExist)
          throw new ConflictFound({ reason: 'missing', kind: change.kind, id: change.id });
        return;
      case 'removeGrant':
        removeGrant.run(change.id);
        return;
      case 'audit':
        appendAudit(change.entry);
        return;
      case 'requirePassword':
        if (passwordHash.get(change.accountId) !== change.passwordHash)
          throw new ConflictFound({ reason: 'orphan', kind: 'Account' });
        return;
      case 'addAccount':
      case 'linkIdentity': {
        const conflict = changeIdentity(change);
        if (conflict) throw new ConflictFound(conflict);
        return;
      }
      case 'putUpstreamLink':
      case 'addUpstreamSession':
      case 'bindGrant': {
        const conflict = changeUpstream(change);
        if (conflict) throw new ConflictFound(conflict);
        return;
      }
      default: {
        const conflict = changeClient(change);
        if (conflict) throw new ConflictFound(conflict);
      }
    }
  }

  function applyAll(changes: readonly Change[]): void {
    let numberOf = memoizeLast(findNumber);
    for (const change of changes) {
      // Any other change may remove a grant or reuse its number.
      if (change.type !== 'put') numberOf = memoizeLast(findNumber);
      try {
        apply(change, numberOf);
      } catch (error) {
        if (error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY')
          throw new ConflictFound({ reason: 'orphan', kind: 'kind' in change ? change.kind : 'Grant' });
        throw error;
      }
    }
  }

  return {
    find: async (kind, id) => artifactCache.find(kind, id) ?? toArtifact(find.get(kind, id)),
    async findAccessToken(id) {
      const row = toArtifact(find.get('AccessToken', id));
      const bond = row && findBond.get('AccessToken', id);
      return bond ? { ...row, bond } : row;
    },
    findRevision: async (kind, id) => findRevision.get(kind, id),
    filterPresent: async (kind, ids) => filterPresent.all(kind, JSON.stringify(ids)),
    removalMark,
    findByUid: async (kind, uid) => toArtifact(findByUid.get(kind, uid)),
    listOf: async (kind, accountId) => listOf.all(accountId, kind).flatMap((row) => toArtifact(row) ?? []),
    listGrants: async (accountId) =>
      listGrants.all(accountId).map(({ usedAt, ...row }) => (usedAt === null ? row : { ...row, usedAt })),
    listLiveGrants: createLiveGrantList(db),
    findGrant: async (id) => toArtifact(findCachedGrant(id)),
    async commit(changes) {
      if (changes.length === 0) return { committed: true };
      const noteOutcome = artifactCache.expect(changes);
      let isDurable = false;
      try {
        await writer.write(() => applyAll(changes), { repeatable: true });
        isDurable = true;
        return { committed: true };
      } catch (error) {
        if (error instanceof ConflictFound) return { committed: false, conflict: error.conflict };
        throw error;
      } finally {
        noteOutcome(isDurable);
      }
    },
    revokeGrant: (id) => writer.write(() => void removeGrant.run(id)),
    countFailure: (kind, id, limit) =>
      writer.write(() => {
        const failures = (fail.get(kind, id) as number | undefined) ?? 0;
        if (failures >= limit) remove.run(kind, id);
        return failures;
      }),
  };
}

interface Row extends Omit<GrantRow, 'usedAt'> {
  usedAt: number | null;
}

/** SQLite's value for no limit. */
const all = -1;

/** Creates the query for an account's grants to one client that are still usable. */
function createLiveGrantList(db: Database.Database): ArtifactStore['listLiveGrants'] {
  // Grant numbers grow with time, except among grants older than the numbers, and an account's index entries are in
  // their order: nothing is sorted, and reading stops at the limit. The index of clients would read the grants of every
  // account.
  const list = db.prepare<{ accountId: string; clientId: string; at: number; limit: number }, Row>(
    `SELECT id, client_id AS clientId, payload, used_at AS usedAt, expires_at AS expiresAt
     FROM grants INDEXED BY grants_account
     WHERE account_id = @accountId AND client_id = @clientId AND expires_at > @at AND EXISTS (SELECT 1 FROM artifacts
       WHERE grant_number = grants.number AND consumed_at IS NULL
         AND artifacts.expires_at - CASE kind WHEN 'AuthorizationCode' THEN ${usedRetentionSeconds}
           WHEN 'AccessToken' THEN ${accessTokenRetentionSeconds} ELSE 0 END > @at)
     ORDER BY number DESC LIMIT @limit`,
  );
  return async (accountId, clientId, at, limit = all) =>
    list
      .all({ accountId, clientId, at, limit })
      .map(({ usedAt, ...row }) => (usedAt === null ? row : { ...row, usedAt }));
}
