import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/storage/sqlite/connection/open.ts';
import {
  restoreRevocations,
  revokeAll,
} from '../../../../src/storage/sqlite/data-folder/restore-revocations.ts';
import { openDataFolder } from '../../../../src/storage/sqlite/index.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';

const person = (id: string) => ({ id, email: `${id}@example.com`, passwordHash: 'then', createdAt: 1 });
const app = (id: string) => ({ id, payload: Buffer.from('x'), createdAt: 1 });

/** A database with these people and apps, as `then` leaves it. */
async function database(
  then: (storage: Storage) => Promise<unknown> = async () => undefined,
): Promise<string> {
  const folder = testFolder();
  const { storage } = await openDataFolder(folder);
  for (const id of ['ann', 'bob', 'cid']) await storage.accounts.add(person(id));
  for (const id of ['chat', 'desk', 'edit']) await storage.clients.add(app(id));
  await then(storage);
  await storage.close();
  return join(folder, 'gatehouse.db');
}

/**
 * Puts a backup, as `then` left it, that has a grant and a code back over `present`; gives what was carried over and what
 * the backup is like then.
 */
async function restoreOver(present: string, then?: Parameters<typeof database>[0]) {
  const backup = openDatabase(await database(then));
  try {
    backup
      .prepare(
        "INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES (?, ?, ?, x'', 9999999999)",
      )
      .run('g', 'ann', 'chat');
    const waiting = backup.prepare(
      "INSERT INTO artifacts (kind, id, account_id, client_id, payload, expires_at) VALUES ('Interaction', ?, ?, ?, x'', 9999999999)",
    );
    waiting.run('of ann', 'ann', null);
    waiting.run('of chat', null, 'chat');
    const carried = restoreRevocations(backup, present);
    return {
      carried,
      grants: backup.prepare('SELECT id FROM grants').pluck().all(),
      waiting: backup.prepare('SELECT id FROM artifacts ORDER BY id').pluck().all(),
      refused: backup.prepare("SELECT id FROM clients WHERE status <> 'approved' ORDER BY id").pluck().all(),
      disabled: backup
        .prepare('SELECT id, disabled_at AS at FROM accounts WHERE disabled_at IS NOT NULL')
        .all(),
      credentials: backup
        .prepare('SELECT account_id, name, value FROM backend_credentials ORDER BY 1, 2')
        .raw()
        .all()
        .map((row) => (row as unknown[]).map(String)),
      tokens: backup.prepare('SELECT id, token_hash AS hash FROM clients WHERE token_hash IS NOT NULL').all(),
    };
  } finally {
    backup.close();
  }
}

const nothing = {
  refusedClients: [],
  disabledAccounts: [],
  renewedTokens: 0,
  returnedAccounts: [],
  olderPasswords: [],
};

describe('what holds on when a backup takes the place of a database', () => {
  it('is nothing where nothing happened since', async () => {
    const { carried, grants, waiting } = await restoreOver(await database());
    expect(carried).toEqual(nothing);
    expect([grants, waiting]).toEqual([['g'], ['of ann', 'of chat']]);
  });

  it('is that a client was denied since, which ends what it was given (T-173)', async () => {
    const { carried, refused, grants, waiting } = await restoreOver(
      await database(({ clients }) => clients.decide('chat', 'denied', 7)),
    );
    expect(carried).toEqual({ ...nothing, refusedClients: ['chat'] });
    expect([refused, grants, waiting]).toEqual([['chat'], [], ['of ann']]);
  });

  it('is that an account was disabled since, which ends what it allowed (T-173)', async () => {
    const { carried, disabled, grants, waiting } = await restoreOver(
      await database(({ accounts }) => accounts.setDisabled('ann', 7)),
    );
    expect(carried).toEqual({ ...nothing, disabledAccounts: ['ann@example.com'] });
    expect([disabled, grants, waiting]).toEqual([[{ id: 'ann', at: 7 }], [], ['of chat']]);
  });

  it('is that a client was removed for good since; one the backup does not know is none (T-173)', async () => {
    const { carried, refused, grants } = await restoreOver(
      await database(async ({ clients }) => {
        await clients.remove('chat', 7);
        await clients.add(app('late'));
        await clients.decide('late', 'denied', 7);
      }),
    );
    expect(carried).toEqual({ ...nothing, refusedClients: ['chat'] });
    expect([refused, grants]).toEqual([['chat'], []]);
  });

  it('is not told of what the backup has just so', async () => {
    const shut = async ({ clients, accounts }: Storage) => {
      await clients.decide('desk', 'denied', 7);
      await accounts.setDisabled('bob', 7);
    };
    const { carried, refused, disabled } = await restoreOver(await database(shut), shut);
    expect(carried).toEqual(nothing);
    expect([refused, disabled]).toEqual([['desk'], [{ id: 'bob', at: 7 }]]);
  });

  it('is that somebody removed what they had entered for a backend; what the backup has stays (T-173)', async () => {
    const entered = (...keys: [accountId: string, name: string][]) => {
      return async ({ backendCredentials }: Storage) => {
        for (const [accountId, name] of keys)
          await backendCredentials.put({ accountId, route: 'notion', name }, Buffer.from('then'), 7);
      };
    };
    const then = entered(['ann', 'key'], ['ann', 'other'], ['bob', 'key']);
    const { carried, credentials } = await restoreOver(await database(entered(['ann', 'other'])), then);
    expect(carried).toEqual(nothing);
    expect(credentials).toEqual([['ann', 'other', 'then']]);
    const gone = await database(({ accounts }) => accounts.remove('bob'));
    expect((await restoreOver(gone, then)).credentials).toEqual([['bob', 'key', 'then']]);
    const older = await database();
    const db = openDatabase(older);
    db.exec('DROP TABLE backend_credentials');
    db.close();
    expect((await restoreOver(older, then)).credentials).toHaveLength(3);
  });

  it('is the registration access token that a client was given last', async () => {
    const { carried, tokens } = await restoreOver(
      await database(({ artifacts }) =>
        artifacts.commit([{ type: 'setRegistrationToken', clientId: 'desk', hash: 'of now' }]),
      ),
    );
    expect(carried).toEqual({ ...nothing, renewedTokens: 1 });
    expect(tokens).toEqual([{ id: 'desk', hash: 'of now' }]);
  });

  it('is not that an account was removed, or has a new password: that is told', async () => {
    const { carried } = await restoreOver(
      await database(async ({ accounts }) => {
        await accounts.remove('bob');
        await accounts.setPassword('cid', 'now');
      }),
    );
    expect(carried).toEqual({
      ...nothing,
      returnedAccounts: ['bob@example.com'],
      olderPasswords: ['cid@example.com'],
    });
  });

  it('is unknown where the database cannot be read', async () => {
    const file = join(testFolder(), 'gatehouse.db');
    writeFileSync(file, 'no database at all, but long enough to be taken for one '.repeat(40));
    expect((await restoreOver(file)).carried).toBeUndefined();
  });
});

it('ends what was issued and leaves accounts, clients, notes, credentials and what is linked for tools (T-173)', () => {
  const db = openDatabase(join(testFolder(), 'gatehouse.db'));
  db.exec(`
    INSERT INTO accounts (id, email, password_hash, created_at) VALUES ('ann', 'ann@example.com', 'x', 1);
    INSERT INTO clients (id, payload, created_at) VALUES ('c', x'00', 1);
    INSERT INTO notes (id, subject, text, created_at) VALUES ('n', 'ann', 'text', 1);
    INSERT INTO grants (id, account_id, client_id, payload, expires_at) VALUES ('g', 'ann', 'c', x'00', 9);
    INSERT INTO artifacts (id, kind, grant_number, payload, expires_at) SELECT 't', 'AccessToken', number, x'00', 9 FROM grants;
    INSERT INTO artifacts (id, kind, payload, expires_at) VALUES ('s', 'Session', x'00', 9);
    INSERT INTO mcp_sessions (key, principal, initialize, protocol_version, is_initialized, subscriptions, created_at, used_at)
      VALUES ('k', 'p', 'x', '2025-11-25', 1, '[]', 1, 1);
    INSERT INTO upstream_links (id, account_id, upstream, issuer, subject, profile, tokens, is_kept, proved_at, linked_at)
      VALUES ('l', 'ann', 'idp', 'https://idp.example', '1', x'00', x'01', 0, 1, 1),
        ('m', 'ann', 'tools', 'https://tools.example', '1', x'00', x'01', 1, 1, 1);
    INSERT INTO upstream_sessions (id, link_id, at) VALUES ('u', 'l', 1), ('v', 'm', 1);
    UPDATE grants SET upstream_session_id = 'u';
    INSERT INTO upstream_revocations (upstream, link_id, account_id, tokens) VALUES ('idp', 'gone', 'gone', x'01');
    INSERT INTO backend_credentials (account_id, route, name, value, entered_at) VALUES ('ann', 'r', 'key', x'01', 1);
    INSERT INTO invitations (id, uses_left, created_at, expires_at) VALUES ('i', 1, 1, 9);
  `);
  revokeAll(db);
  const count = (table: string): unknown => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const emptied = ['grants', 'artifacts', 'mcp_sessions', 'mcp_session_counts', 'invitations'];
  emptied.push('upstream_sessions', 'upstream_unheld', 'upstream_revocations');
  expect(Object.fromEntries(emptied.map((table) => [table, count(table)]))).toEqual(
    Object.fromEntries(emptied.map((table) => [table, 0])),
  );
  expect(db.prepare('SELECT id, tokens, generation FROM upstream_links').all()).toEqual([
    { id: 'm', tokens: null, generation: 2 },
  ]);
  expect(['accounts', 'clients', 'notes', 'backend_credentials'].map(count)).toEqual([1, 1, 1, 1]);
  db.close();
});
