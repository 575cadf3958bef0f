// The storage behind a real PgBouncer in transaction mode: each transaction may get another connection of the server.
import { describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../../src/storage/postgres/index.ts';
import { openCallStore } from '../../../src/storage/postgres/stores/calls.ts';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { usePooler } from '../../support/postgres/pooler.ts';
import { describeArtifacts } from '../contract/artifacts.ts';
import { describeAudit } from '../contract/audit.ts';
import { auditKey } from '../contract/call.ts';
import { describeCalls } from '../contract/calls.ts';
import { describeCommits } from '../contract/commits.ts';
import { describeMcpSessions, describeMcpStreams } from '../contract/mcp-sessions.ts';
import { describeNodes } from '../contract/nodes.ts';
import { openForTest } from '../contract/subject.ts';
import { connectTo, usePostgres } from './subject.ts';

const server = usePostgres();
const pooler = usePooler(server);

async function newUrl(): Promise<string> {
  return pooler().through(await server().createDatabase());
}

const open = async () => openPostgresStorage({ url: await newUrl(), pooled: true });

describe('PostgreSQL behind a pooler', () => describeArtifacts(open));

describe('PostgreSQL behind a pooler', () => describeCommits(open));

describe('PostgreSQL behind a pooler', () => describeAudit(open));

describe('PostgreSQL behind a pooler', () =>
  describeCalls(async () => {
    const url = await newUrl();
    await (await openPostgresStorage({ url, pooled: true })).close();
    return {
      open: () => openCallStore({ url, pooled: true }, { audit: auditKey }),
      execute: async (sql) => void (await (await connectTo(url)).query(sql)),
    };
  }));

describe('PostgreSQL behind a pooler', () => describeMcpSessions(open));

describe('PostgreSQL behind a pooler', () => describeMcpStreams(open));

describe('PostgreSQL behind a pooler', () => describeNodes(open));

it('Several nodes behind a pooler start at once and write at once, and the audit log has one order', async () => {
  const url = await newUrl();
  const nodes = await Promise.all(
    [1, 2, 3, 4].map(() => openForTest(() => openPostgresStorage({ url, pooled: true }))),
  );
  await Promise.all(
    nodes.flatMap((storage, node) =>
      Array.from({ length: 10 }, (_, index) =>
        storage.audit.append([{ at: 1, event: 'test', details: { index: `${node}.${index}` } }]),
      ),
    ),
  );
  const rows = await nodes[0]?.audit.read({ limit: 100, newestFirst: false });
  expect(rows?.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});

it('A node that names its statements behind a pooler is told which setting is missing', async () => {
  const url = await newUrl();
  const storage = await openForTest(() => openPostgresStorage({ url, poolSize: 1 }));
  const list = async (): Promise<unknown> => storage.notes.list('nobody', 1).catch((error: unknown) => error);
  let outcome = await list();
  // Each holds a connection of the server, so that the node gets another one in the end.
  for (let holders = 0; holders < 5 && !(outcome instanceof Error); holders++) {
    await (await connectTo(url)).query('BEGIN');
    outcome = await list();
  }
  expect(outcome).toBeInstanceOf(StorageUnavailable);
  expect(String(outcome)).toContain('set storage.pooled');
});
