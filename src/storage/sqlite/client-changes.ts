import type Database from 'better-sqlite3';
import type { Conflict } from '../artifacts.ts';
import type { ClientChange, NewClient } from '../clients.ts';
import type { Writer } from './writer.ts';

/** How exactly the last use of a client is known. */
const useResolutionSeconds = 86_400;

/** Fills in what a client that is written does not say. */
export function toClientColumns(client: NewClient): Required<NewClient> {
  return { status: 'approved', origin: 'registered', ...client };
}

/** Keeps a client, new or changed; what is counted and decided about it stays. */
export const putClientSql = `INSERT INTO clients (id, payload, created_at, status, origin)
   VALUES (@id, @payload, @createdAt, @status, @origin)
   ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, status = excluded.status`;

/** Keeps a client that is new; one that is there stays as it is. */
export const keepClientSql = `INSERT INTO clients (id, payload, created_at, status, origin)
   VALUES (@id, @payload, @createdAt, @status, @origin)
   ON CONFLICT (id) DO NOTHING`;

const nobodyUsed = `used_at IS NULL AND decided_at IS NULL AND origin = 'registered' AND status <> 'removed'`;

/** A client that was just stored, and how many that nobody used may be kept. */
interface NewOne {
  id: string;
  maxUnused: number;
}

/**
 * Creates the bound of registrations that nobody used, kept at the end of each commit. To count them takes as long as there
 * are many, so it is done once for a hundredth of them, and that many go at once.
 * @returns takes a client that was just stored, which stays
 */
function createRoomForNew(db: Database.Database, writer: Pick<Writer, 'gather'>): (client: NewOne) => void {
  const count = db.prepare<[], number>(`SELECT count(*) FROM clients WHERE ${nobodyUsed}`).pluck();
  const removeOldest = db.prepare<[string, number]>(
    `DELETE FROM clients WHERE id IN (SELECT id FROM clients
       WHERE ${nobodyUsed} AND id NOT IN (SELECT value FROM json_each(?))
         AND NOT EXISTS (SELECT 1 FROM artifacts WHERE client_id = clients.id)
       ORDER BY created_at, id
       LIMIT ?)`,
  );
  let surelyFit = 0;
  let bound: number | undefined;
  return writer.gather<NewOne>((stored) => {
    const maxUnused = Math.min(...stored.map((client) => client.maxUnused));
    if (bound === maxUnused && surelyFit >= stored.length) {
      surelyFit -= stored.length;
      return;
    }
    bound = maxUnused;
    const atOnce = Math.floor(maxUnused / 100);
    const over = (count.get() ?? 0) - maxUnused;
    // What is removed here is there again where the commit fails, so after a removal the next one counts.
    surelyFit = Math.max(0, Math.min(atOnce, -over));
    if (over > 0) removeOldest.run(JSON.stringify(stored.map(({ id }) => id)), over + atOnce);
  });
}

/**
 * Creates the carrying out of changes to clients, inside of a transaction.
 * @returns a function that carries one out and gives the conflict where it is refused
 */
export function createClientChanges(
  db: Database.Database,
  writer: Pick<Writer, 'gather'>,
): (change: ClientChange) => Conflict | undefined {
  const isKnown = db.prepare<[string], number>('SELECT 1 FROM clients WHERE id = ?').pluck();
  const put = db.prepare(putClientSql);
  const makeRoom = createRoomForNew(db, writer);
  const keep = db.prepare(keepClientSql);
  const wasRemoved = db
    .prepare<[string], number>(`SELECT 1 FROM clients WHERE id = ? AND status = 'removed'`)
    .pluck();
  const remove = db.prepare('DELETE FROM clients WHERE id = ?');
  const endGrants = db.prepare('DELETE FROM grants WHERE client_id = ?');
  const endArtifacts = db.prepare('DELETE FROM artifacts WHERE client_id = ?');
  // Those of accounts go with their grants.
  const endOwnObjects = db.prepare(
    'DELETE FROM backend_objects WHERE client_id = ? AND grant_number IS NULL',
  );
  const setToken = db.prepare('UPDATE clients SET token_hash = ? WHERE id = ?');
  const holdsToken = db
    .prepare<[string, string], number>('SELECT 1 FROM clients WHERE id = ? AND token_hash = ?')
    .pluck();
  const use = db.prepare<{ clientId: string; at: number }>(
    `UPDATE clients SET used_at = @at
     WHERE id = @clientId AND (used_at IS NULL OR used_at < @at - ${useResolutionSeconds})`,
  );
  const useInvitation = db.prepare(
    'UPDATE invitations SET uses_left = uses_left - 1 WHERE id = ? AND uses_left > 0 AND expires_at > ?',
  );
  const refused = (kind: string, id: string): Conflict => ({ reason: 'missing', kind, id });

  function end(id: string): void {
    endGrants.run(id);
    endArtifacts.run(id);
    endOwnObjects.run(id);
  }

  return (change) => {
    switch (change.type) {
      case 'putClient': {
        const isNew = isKnown.get(change.client.id) === undefined;
        put.run(toClientColumns(change.client));
        if (isNew) makeRoom({ id: change.client.id, maxUnused: change.maxUnused });
        return undefined;
      }
      case 'keepClient':
        if (wasRemoved.get(change.client.id)) return refused('Client', change.client.id);
        keep.run(toClientColumns(change.client));
        return undefined;
      case 'removeClient':
        end(change.id);
        remove.run(change.id);
        return undefined;
      case 'endClient':
        end(change.id);
        return undefined;
      case 'setRegistrationToken':
        setToken.run(change.hash, change.clientId);
        return undefined;
      case 'requireRegistrationToken':
        return holdsToken.get(change.clientId, change.hash)
          ? undefined
          : refused('RegistrationAccessToken', change.hash);
      case 'useClient':
        use.run(change);
        return undefined;
      case 'useInvitation':
        return useInvitation.run(change.id, change.at).changes === 1
          ? undefined
          : refused('InitialAccessToken', change.id);
    }
  };
}
