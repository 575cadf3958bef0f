import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import {
  describeBackendCredentials,
  describeBackendObjects,
  describeDefinitionPins,
} from '../../contract/backends.ts';
import { account, openForTest, payload, startOfTime } from '../../contract/subject.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeBackendCredentials(() => openNewDatabase(server())));

it('The position of the latest credential change is one that is committed, and a change rolled back takes none', async () => {
  const url = await server().createDatabase();
  const storage = await openForTest(() => openPostgresStorage({ url }));
  await storage.accounts.add(account('ada'));
  const { backendCredentials: store } = storage;
  const last = await store.lastChange();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(
    `BEGIN; INSERT INTO backend_credentials (account_id, route, name, value, entered_at)
     VALUES ('ada', 'notion', 'apiKey', '', 1)`,
  );
  expect(await store.lastChange()).toBe(last);
  await client.query('ROLLBACK');
  await store.put({ accountId: 'ada', route: 'files', name: 'apiKey' }, payload('x'), startOfTime);
  expect(await store.lastChange()).toBe(last + 1);
  expect(await store.changesAfter(last, 9)).toEqual([
    { position: last + 1, accountId: 'ada', route: 'files' },
  ]);
});

describe('PostgreSQL', () => describeBackendObjects(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeDefinitionPins(() => openNewDatabase(server())));
