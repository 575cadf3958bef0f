import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { describeNodes, settled } from '../../contract/nodes.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeNodes(() => openNewDatabase(server())));

it('a node renews its lease while another one writes for long', async () => {
  const url = await server().createDatabase();
  const storage = await openPostgresStorage({ url });
  onTestFinished(() => storage.close());
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('BEGIN; UPDATE commit_order SET commits = commits + 1');
  const begun = performance.now();
  await storage.nodes.beat({ id: 'a', address: '10.0.0.1:1', version: '1', startedAt: 1, ...settled });
  expect(performance.now() - begun).toBeLessThan(2_000);
  expect(await storage.nodes.list()).toHaveLength(1);
  await other.query('ROLLBACK');
});
