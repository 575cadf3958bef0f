import { credentialChangeRetentionSeconds } from '../backends.ts';
import { clientLifetimes, documentRetentionSeconds } from '../clients.ts';
import { deadNodeSeconds, messageSeconds } from '../nodes.ts';
import { unusedUpstreamSessionSeconds } from '../upstreams.ts';
import type { Writer } from './connection/writer.ts';

/** Rows removed in one commit: small enough to not delay other writes of any node (T-180). */
const batchSize = 500;

/** Returns the removal of a batch of rows that meet a condition, in which `$1` is the time. */
function removeBatch(table: string, condition: string): string {
  // Writes are serial, so a row stays in its place until the statement has removed it.
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${batchSize}))`;
}

/** Returns the removal of self-registered clients that meet a condition and have no grant or open interaction. */
function removeClients(condition: string): string {
  return removeBatch(
    'clients',
    `${condition} AND origin = 'registered' AND NOT EXISTS (SELECT FROM grants WHERE client_id = clients.id)
       AND NOT EXISTS (SELECT FROM artifacts WHERE client_id = clients.id)`,
  );
}

const statements: readonly string[] = [
  removeBatch('artifacts', 'expires_at < $1'),
  removeBatch('grants', 'expires_at < $1'),
  removeBatch('backend_objects', 'expires_at < $1'),
  removeClients(
    `used_at IS NULL AND created_at < $1::bigint - ${clientLifetimes.neverUsedSeconds} AND status <> 'pending'
       AND coalesce(decided_at < $1::bigint - ${clientLifetimes.afterUseSeconds}, true)`,
  ),
  removeClients(
    `used_at IS NULL AND created_at < $1::bigint - ${clientLifetimes.pendingSeconds} AND status = 'pending'
       AND coalesce(decided_at < $1::bigint - ${clientLifetimes.pendingSeconds}, true)`,
  ),
  removeClients(
    `used_at < $1::bigint - ${clientLifetimes.afterUseSeconds}
       AND coalesce(decided_at < $1::bigint - ${clientLifetimes.afterUseSeconds}, true)`,
  ),
  removeBatch(
    'upstream_sessions',
    `at < $1::bigint - ${unusedUpstreamSessionSeconds}
       AND NOT EXISTS (SELECT FROM grants WHERE upstream_session_id = upstream_sessions.id)
       AND NOT EXISTS (SELECT FROM artifacts WHERE upstream_session_id = upstream_sessions.id)`,
  ),
  removeBatch('backend_credential_changes', `at < $1::bigint - ${credentialChangeRetentionSeconds}`),
  removeBatch('invitations', 'expires_at < $1'),
  removeBatch('client_documents', `fetched_at < $1::bigint - ${documentRetentionSeconds}`),
  removeBatch('node_messages', `posted_at < to_timestamp($1::bigint - ${messageSeconds})`),
  // A writer looks for its mark within seconds of a lost commit. The server has set the time.
  removeBatch('commit_marks', `at < least(to_timestamp($1), clock_timestamp()) - interval '1 day'`),
  removeBatch(
    'nodes',
    `beat_at < least(to_timestamp($1), clock_timestamp()) - interval '${deadNodeSeconds} seconds'`,
  ),
];

/**
 * Creates the sweep of expired grants and artifacts, then of clients, client documents, upstream sessions, credential
 * changes, messages of nodes, marks of commits and nodes that are no longer used.
 * @returns removes rows that expired before a time (epoch seconds) and returns their number
 */
export function createSweeper(writer: Pick<Writer, 'write'>): (nowSeconds: number) => Promise<number> {
  return async (nowSeconds) => {
    let removed = 0;
    for (const statement of statements) {
      for (let changes = batchSize; changes === batchSize; removed += changes)
        changes = await writer.write((tx) => tx.run(statement, [nowSeconds]), { inOneFlight: true });
    }
    return removed;
  };
}
