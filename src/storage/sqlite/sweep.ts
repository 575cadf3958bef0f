import type Database from 'better-sqlite3';
import { credentialChangeRetentionSeconds } from '../backends.ts';
import { clientLifetimes, documentRetentionSeconds } from '../clients.ts';
import { deadNodeSeconds, messageSeconds } from '../nodes.ts';
import { unusedUpstreamSessionSeconds } from '../upstreams.ts';
import type { Writer } from './connection/writer.ts';

/** Rows removed in one commit: small enough to not delay other writes (T-180). */
const batchSize = 500;

/** Prepares the removal of self-registered clients that meet a condition and have no grant or open interaction. */
function prepareClientSweep(db: Database.Database, condition: string): Database.Statement<[number]> {
  return db.prepare(
    `DELETE FROM clients WHERE id IN (SELECT id FROM (SELECT ? AS now) CROSS JOIN clients WHERE ${condition} AND origin = 'registered'
       AND NOT EXISTS (SELECT 1 FROM grants WHERE client_id = clients.id)
       AND NOT EXISTS (SELECT 1 FROM artifacts WHERE client_id = clients.id)
       LIMIT ${batchSize})`,
  );
}

/**
 * Creates the sweep of expired grants and artifacts, then of clients, client documents, upstream sessions,
 * credential changes, messages of processes and nodes that are no longer used.
 * @returns removes rows that expired before a time (epoch seconds) and returns their number
 */
export function createSweeper(
  db: Database.Database,
  writer: Writer,
): (nowSeconds: number) => Promise<number> {
  const statements = [
    db.prepare(
      `DELETE FROM artifacts WHERE rowid IN (SELECT rowid FROM artifacts WHERE expires_at < ? LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM grants WHERE number IN (SELECT number FROM grants WHERE expires_at < ? LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM backend_objects WHERE key IN (SELECT key FROM backend_objects WHERE expires_at < ? LIMIT ${batchSize})`,
    ),
    prepareClientSweep(
      db,
      `used_at IS NULL AND created_at < now - ${clientLifetimes.neverUsedSeconds} AND status <> 'pending'
         AND coalesce(decided_at < now - ${clientLifetimes.afterUseSeconds}, true)`,
    ),
    prepareClientSweep(
      db,
      `used_at IS NULL AND created_at < now - ${clientLifetimes.pendingSeconds} AND status = 'pending'
         AND coalesce(decided_at < now - ${clientLifetimes.pendingSeconds}, true)`,
    ),
    prepareClientSweep(
      db,
      `used_at < now - ${clientLifetimes.afterUseSeconds}
         AND coalesce(decided_at < now - ${clientLifetimes.afterUseSeconds}, true)`,
    ),
    db.prepare(
      `DELETE FROM upstream_sessions WHERE id IN (SELECT id FROM upstream_sessions
         WHERE at < ? - ${unusedUpstreamSessionSeconds}
           AND NOT EXISTS (SELECT 1 FROM grants WHERE upstream_session_id = upstream_sessions.id)
           AND NOT EXISTS (SELECT 1 FROM artifacts WHERE upstream_session_id = upstream_sessions.id)
         LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM backend_credential_changes WHERE id IN (SELECT id FROM backend_credential_changes
         WHERE at < ? - ${credentialChangeRetentionSeconds} LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at < ? LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM client_documents WHERE url IN (SELECT url FROM client_documents
         WHERE fetched_at < ? - ${documentRetentionSeconds} LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM node_messages WHERE position IN (SELECT position FROM node_messages
         WHERE posted_at_ms < (? - ${messageSeconds}) * 1000 LIMIT ${batchSize})`,
    ),
    db.prepare(
      `DELETE FROM nodes WHERE id IN (SELECT id FROM nodes
         WHERE beat_at_ms < (min(?, unixepoch()) - ${deadNodeSeconds}) * 1000 LIMIT ${batchSize})`,
    ),
  ];
  return async (nowSeconds) => {
    let removed = 0;
    for (const statement of statements) {
      for (let changes = batchSize; changes === batchSize; removed += changes)
        changes = await writer.write(() => statement.run(nowSeconds).changes);
    }
    return removed;
  };
}
