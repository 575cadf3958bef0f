import {
  type AccessTokenRow,
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
import type { ChangeMarks } from '../connection/change-marks.ts';
import type { Database, Value } from '../connection/database.ts';
import type { RowCache } from '../connection/row-cache.ts';
import type { Transaction, Writer } from '../connection/writer.ts';
import { applyIdentityChange, selectAccount } from './accounts.ts';
import type { AppendAudit } from './audit.ts';
import {
  useResolutionSeconds as clientUseResolutionSeconds,
  createClientChanges,
  selectClient,
} from './clients.ts';
import { applyUpstreamChange } from './upstream-endings.ts';

class ConflictFound extends Error {
  readonly conflict: Conflict;
  constructor(conflict: Conflict) {
    super(conflict.reason);
    this.conflict = conflict;
  }
}

/** Resolution of the last use of a grant, in seconds: most refreshes need not write it. */
const useResolutionSeconds = 60;

interface Row {
  id: string;
  payload: Buffer;
  revision: number;
  consumedAt: number | null;
  usedFrom: string | null;
  expiresAt: number;
}

function toArtifact(row: Row | undefined): ArtifactRow | undefined {
  if (!row) return undefined;
  const { consumedAt, usedFrom, ...artifact } = row;
  return {
    ...artifact,
    ...(consumedAt === null ? undefined : { consumedAt }),
    ...(usedFrom === null ? undefined : { usedFrom }),
  };
}

/** An access token, with the rows that a call for it needs. */
interface TokenRow extends Row {
  bond: UpstreamBond | null;
  account: { id: string } | null;
  client: { id: string } | null;
  clientPayload: Buffer | null;
}

const columns = `artifacts.id, artifacts.payload, artifacts.revision, artifacts.consumed_at AS "consumedAt",
  artifacts.used_from AS "usedFrom", artifacts.expires_at AS "expiresAt"`;

const sql = {
  find: `SELECT ${columns} FROM artifacts WHERE kind = $1 AND id = $2`,
  // The payload of a client is bytes, which JSON would turn into text.
  findAccessToken: `SELECT ${columns}, to_jsonb(bond) AS bond, to_jsonb(account) AS account,
      to_jsonb(client) - 'payload' AS client, client.payload AS "clientPayload"
    FROM artifacts LEFT JOIN grants ON grants.number = grant_number
      LEFT JOIN LATERAL (SELECT id AS "sessionId", link_id AS "linkId" FROM upstream_sessions
        WHERE id = grants.upstream_session_id) AS bond ON true
      LEFT JOIN LATERAL (${selectAccount('coalesce(artifacts.account_id, grants.account_id)')}) AS account ON true
      LEFT JOIN LATERAL (${selectClient('coalesce(artifacts.client_id, grants.client_id)')}) AS client ON true
    WHERE artifacts.kind = 'AccessToken' AND artifacts.id = $1`,
  findRevision: 'SELECT revision FROM artifacts WHERE kind = $1 AND id = $2',
  filterPresent: 'SELECT id FROM artifacts WHERE kind = $1 AND id = ANY ($2)',
  findByUid: `SELECT ${columns} FROM artifacts WHERE kind = $1 AND uid = $2`,
  listOf: `SELECT ${columns} FROM artifacts WHERE account_id = $1 AND kind = $2`,
  listGrants: `SELECT id, client_id AS "clientId", payload, used_at AS "usedAt", expires_at AS "expiresAt" FROM grants
     WHERE account_id = $1`,
  // The newest have the highest numbers; the index gives those of an account and client in their order.
  listLiveGrants: `SELECT id, client_id AS "clientId", payload, used_at AS "usedAt", expires_at AS "expiresAt" FROM grants
     WHERE account_id = $1 AND client_id = $2 AND expires_at > $3::bigint AND EXISTS (SELECT FROM artifacts
       WHERE grant_number = grants.number AND consumed_at IS NULL
         AND artifacts.expires_at - CASE kind WHEN 'AuthorizationCode' THEN ${usedRetentionSeconds}
           WHEN 'AccessToken' THEN ${accessTokenRetentionSeconds} ELSE 0 END > $3::bigint)
     ORDER BY number DESC LIMIT $4`,
  findGrant: `SELECT id, payload, 0::bigint AS revision, NULL AS "consumedAt", NULL AS "usedFrom", expires_at AS "expiresAt"
     FROM grants WHERE id = $1`,
  putGrant: `INSERT INTO grants (id, account_id, client_id, payload, expires_at)
     SELECT $1, id, $3, $4, $5 FROM accounts WHERE id = $2
     ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`,
  useClient: 'UPDATE clients SET used_at = $1 WHERE id = $2',
  // A use in the future was recorded before the clock was set back (T-176).
  consume: `WITH used AS (
       UPDATE artifacts SET consumed_at = $3, used_from = $4, expires_at = greatest(expires_at, $3::bigint + ${usedRetentionSeconds})
       WHERE kind = $1 AND id = $2 AND consumed_at IS NULL RETURNING grant_number
     ), used_grant AS (
       UPDATE grants SET used_at = $3 FROM used
       WHERE number = used.grant_number AND coalesce(used_at, 0) NOT BETWEEN $3 - ${useResolutionSeconds} AND $3
       RETURNING client_id
     ), used_client AS (
       UPDATE clients SET used_at = $3 FROM used_grant
       WHERE id = used_grant.client_id AND (used_at IS NULL OR used_at < $3 - ${clientUseResolutionSeconds})
     )
     SELECT count(*) AS used FROM used`,
  isStored: 'SELECT 1 AS found FROM artifacts WHERE kind = $1 AND id = $2',
  isOfRevision:
    'SELECT 1 AS found FROM artifacts WHERE kind = $1 AND id = $2 AND revision = coalesce($3, revision)',
  remove: 'DELETE FROM artifacts WHERE kind = $1 AND id = $2',
  passwordHash: 'SELECT password_hash AS hash FROM accounts WHERE id = $1 AND disabled_at IS NULL',
  removeGrant: 'DELETE FROM grants WHERE id = $1',
  fail: `UPDATE artifacts SET failures = failures + 1 WHERE kind = $1 AND id = $2 AND consumed_at IS NULL
     RETURNING failures`,
} as const;

/** Conditions on the parents of an artifact: `$3` is its grant, `$4` its account, `$5` its upstream session. */
const parentsExist = `($3::text IS NULL OR EXISTS (SELECT FROM grants WHERE id = $3))
  AND ($4::text IS NULL OR EXISTS (SELECT FROM accounts WHERE id = $4))
  AND ($5::text IS NULL OR EXISTS (SELECT FROM upstream_sessions WHERE id = $5))`;

const insert = `INSERT INTO artifacts (kind, id, grant_number, account_id, upstream_session_id, uid, payload, expires_at, client_id)
  SELECT $1, $2, (SELECT number FROM grants WHERE id = $3), $4, $5, $6, $7, $8::bigint, $9 WHERE ${parentsExist}`;

const putSql = {
  any: `${insert}
    ON CONFLICT (id, kind) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
      account_id = excluded.account_id, upstream_session_id = excluded.upstream_session_id, uid = excluded.uid,
      grant_number = coalesce(excluded.grant_number, artifacts.grant_number), revision = artifacts.revision + 1`,
  ifAbsent: `${insert} ON CONFLICT (id, kind) DO NOTHING`,
  ifPresent: `UPDATE artifacts SET grant_number = coalesce((SELECT number FROM grants WHERE id = $3), grant_number),
      account_id = $4, upstream_session_id = $5, uid = $6, payload = $7, expires_at = $8, revision = revision + 1
    WHERE kind = $1 AND id = $2 AND revision = coalesce($9, revision) AND ${parentsExist}`,
} as const;

/** Writes an artifact. */
async function putArtifact(tx: Transaction, change: PutArtifact): Promise<Conflict | undefined> {
  const { kind, id, ifRevision } = change;
  const { grantId, accountId, upstreamSessionId, uid, payload, expiresAt } = change;
  const values: Value[] = [kind, id, grantId, accountId, upstreamSessionId, uid, payload, expiresAt];
  const orphan: Conflict = { reason: 'orphan', kind };
  if (change.ifAbsent === true) {
    if ((await tx.run(putSql.ifAbsent, [...values, change.clientId])) === 1) return undefined;
    return (await tx.row(sql.isStored, [kind, id])) ? { reason: 'present', kind, id } : orphan;
  }
  if (ifRevision === undefined && change.ifPresent !== true)
    return (await tx.run(putSql.any, [...values, change.clientId])) === 1 ? undefined : orphan;
  if ((await tx.run(putSql.ifPresent, [...values, ifRevision])) === 1) return undefined;
  return (await tx.row(sql.isOfRevision, [kind, id, ifRevision])) ? orphan : { reason: 'changed', kind, id };
}

/** Parts that the artifact store shares with other stores of its connection. */
export interface ArtifactStoreParts {
  appendAudit: AppendAudit;
  rowCache: RowCache;
  marks: ChangeMarks;
}

/** Creates the artifact store of a PostgreSQL database. */
export function createArtifactStore(
  db: Database,
  writer: Writer,
  { appendAudit, rowCache, marks }: ArtifactStoreParts,
): ArtifactStore {
  const removalMark = (kind: string): number => marks.of(`artifacts/${kind}`);
  const changeClient = createClientChanges(writer);
  const findCachedGrant = rowCache.wrap('grants', (id) => db.row<Row>(sql.findGrant, [id]));
  const listOfGrants = async (query: string, values: Value[]): Promise<GrantRow[]> =>
    (await db.rows<Omit<GrantRow, 'usedAt'> & { usedAt: number | null }>(query, values)).map(
      ({ usedAt, ...row }) => (usedAt === null ? row : { ...row, usedAt }),
    );

  async function findAccessToken(id: string): Promise<AccessTokenRow | undefined> {
    const found = await rowCache.fill(
      () => db.row<TokenRow>(sql.findAccessToken, [id]),
      (row) => ({
        accounts: row?.account ?? undefined,
        clients: row?.client ? { ...row.client, payload: row.clientPayload } : undefined,
      }),
    );
    if (!found) return undefined;
    const { bond, account, client, clientPayload, ...row } = found;
    const token = toArtifact(row);
    return token && bond ? { ...token, bond } : token;
  }

  /** Consumes an artifact and records the use of its grant and client. */
  async function useUp(
    tx: Transaction,
    { kind, id, at, usedFrom }: Extract<Change, { type: 'consume' }>,
  ): Promise<Conflict | undefined> {
    const used = await tx.row<{ used: number }>(sql.consume, [kind, id, at, usedFrom]);
    if (used?.used === 1) return undefined;
    const isStored = await tx.row(sql.isStored, [kind, id]);
    return { reason: isStored ? 'consumed' : 'missing', kind, id };
  }

  /** Sends the statements of a change before it awaits the first; resolves with the conflict if it is rejected. */
  async function apply(tx: Transaction, change: Change): Promise<Conflict | undefined> {
    switch (change.type) {
      case 'putGrant': {
        const { id, accountId, clientId, payload, expiresAt, at } = change;
        const put = tx.run(sql.putGrant, [id, accountId, clientId, payload, expiresAt]);
        tx.send(sql.useClient, [at, clientId]);
        return (await put) === 1 ? undefined : { reason: 'orphan', kind: 'Grant' };
      }
      case 'put':
        return putArtifact(tx, change);
      case 'consume':
        return useUp(tx, change);
      case 'remove': {
        const { kind, id, mustExist } = change;
        const removed = await tx.run(sql.remove, [kind, id]);
        return removed === 0 && mustExist ? { reason: 'missing', kind, id } : undefined;
      }
      case 'removeGrant':
        tx.send(sql.removeGrant, [change.id]);
        return undefined;
      case 'audit':
        appendAudit(change.entry);
        return undefined;
      case 'requirePassword': {
        const row = await tx.row<{ hash: string }>(sql.passwordHash, [change.accountId]);
        return row?.hash === change.passwordHash ? undefined : { reason: 'orphan', kind: 'Account' };
      }
      case 'addAccount':
      case 'linkIdentity':
        return applyIdentityChange(tx, change);
      case 'putUpstreamLink':
      case 'addUpstreamSession':
      case 'bindGrant':
        return applyUpstreamChange(tx, change);
      default:
        return changeClient(tx, change);
    }
  }

  async function applyAll(tx: Transaction, changes: readonly Change[]): Promise<void> {
    const conflicts = await Promise.all(changes.map((change) => apply(tx, change)));
    const conflict = conflicts.find((found) => found !== undefined);
    if (conflict) throw new ConflictFound(conflict);
  }

  return {
    find: async (kind, id) => toArtifact(await db.row<Row>(sql.find, [kind, id])),
    findAccessToken,
    findRevision: async (kind, id) =>
      (await db.row<{ revision: number }>(sql.findRevision, [kind, id]))?.revision,
    filterPresent: async (kind, ids) =>
      (await db.rows<{ id: string }>(sql.filterPresent, [kind, ids])).map(({ id }) => id),
    removalMark,
    findByUid: async (kind, uid) => toArtifact(await db.row<Row>(sql.findByUid, [kind, uid])),
    listOf: async (kind, accountId) =>
      (await db.rows<Row>(sql.listOf, [accountId, kind])).flatMap((row) => toArtifact(row) ?? []),
    listGrants: (accountId) => listOfGrants(sql.listGrants, [accountId]),
    listLiveGrants: (accountId, clientId, at, limit) =>
      listOfGrants(sql.listLiveGrants, [accountId, clientId, at, limit]),
    findGrant: async (id) => toArtifact(await findCachedGrant(id)),
    async commit(changes) {
      if (changes.length === 0) return { committed: true };
      try {
        await writer.write((tx) => applyAll(tx, changes), { inOneFlight: true });
        return { committed: true };
      } catch (error) {
        if (error instanceof ConflictFound) return { committed: false, conflict: error.conflict };
        throw error;
      }
    },
    revokeGrant: (id) =>
      writer.write(async (tx) => void tx.send(sql.removeGrant, [id]), { inOneFlight: true }),
    countFailure: (kind, id, limit) =>
      writer.write(async (tx) => {
        const failed = await tx.row<{ failures: number }>(sql.fail, [kind, id]);
        const failures = failed?.failures ?? 0;
        if (failures >= limit) await tx.run(sql.remove, [kind, id]);
        return failures;
      }),
  };
}
