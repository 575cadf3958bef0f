import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../test/support/free-port.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres/postgres.ts';
import { callWorks, measureCalls } from './calls.ts';
import { obtainAccessToken } from './gatehouse-token.ts';
import { issuanceWorks, measureIssuance } from './issuance.ts';
import { startIssuer } from './issuers.ts';
import type { Pace } from './pace.ts';
import type { Row } from './report.ts';
import { callBody, checkEcho, headersFor, type Load, openSession } from './requests.ts';
import { type ServerProcess, startServer, waitUntil } from './server-process.ts';
import { startSubject } from './subjects.ts';
import { rowOfRuns, takeTurns } from './turns.ts';
import { runWrk } from './wrk.ts';

/** Name of the rows of a node on PostgreSQL; `gatehouse` is one on SQLite. */
const onPostgres = 'gatehouse, PostgreSQL';

/** Tokens that a node is shown for the first time. */
const unknownTokens = 32;

/** Calls that are dealt out to two nodes at random. */
const dealtCalls = 2_000;

/** Sessions at each of two nodes. */
const sessionsOfNode = 16;

/** Compares one node on PostgreSQL with one on SQLite: PostgreSQL runs on both cores, the node and the load on theirs. */
async function measureStorages(pace: Pace, folder: string, postgres: PostgresServer): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, kind } of Object.values(issuanceWorks)) {
    const env = { POSTGRES: await postgres.createDatabase() };
    const work = { name: `${name}, by storage`, kind };
    const issuers = {
      gatehouse: () => startIssuer('gatehouse', folder),
      [onPostgres]: () => startIssuer('gatehouse', folder, env),
    };
    rows.push(...(await measureIssuance(work, pace, folder, issuers)));
  }
  for (const { name, mode, subjects } of [callWorks.modern, callWorks.session]) {
    const env = { POSTGRES: await postgres.createDatabase() };
    const work = { name: `${name}, by storage`, mode, subjects };
    const starts = {
      gatehouse: () => startSubject('gatehouse', folder),
      [onPostgres]: () => startSubject('gatehouse', folder, { env }),
    };
    rows.push(...(await measureCalls(work, pace, folder, starts)));
  }
  return rows;
}

/** Sends the modern call once. @throws Error unless it is answered */
async function callOnce(origin: string, token: string): Promise<void> {
  const load: Load = {
    ...{ url: `${origin}/mcp`, method: 'POST' },
    ...{ headers: headersFor('modern', token), body: callBody('modern') },
  };
  await checkEcho(load);
}

/** Two nodes on one database, ready for requests. */
interface TwoNodes {
  servers: [ServerProcess, ServerProcess];
  origins: [string, string];
}

async function startTwoNodes(folder: string, database: string): Promise<TwoNodes> {
  const data = await mkdtemp(join(folder, 'nodes-'));
  const port = await freePort();
  const env = { POSTGRES: database, FOLDER: data, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const program = new URL('servers/gatehouse.ts', import.meta.url).pathname;
  const start = async (at?: number): Promise<ServerProcess> => {
    const server = await startServer(folder, [program], env, at);
    await waitUntil(server, async () => (await fetch(`http://127.0.0.1:${server.port}/readyz`)).ok);
    return server;
  };
  const first = await start(port);
  const second = await start();
  return {
    servers: [first, second],
    origins: [`http://127.0.0.1:${first.port}`, `http://127.0.0.1:${second.port}`],
  };
}

/**
 * Counts the queries for a token that a node does not know: as many as differ from those for the same call once it does.
 * Those of a node that has nothing to do are left out.
 */
async function countQueries({ origins: [first, second] }: TwoNodes, database: string): Promise<Row> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const tokens: string[] = [];
    while (tokens.length < unknownTokens) tokens.push(await obtainAccessToken(first, ['mcp']));
    // What every new node loads once is no price of a token.
    await callOnce(second, tokens.pop() ?? '');
    const count = async (work: () => Promise<void>): Promise<number> => {
      await client.query('SELECT pg_stat_statements_reset()');
      await work();
      const { rows } = await client.query<{ calls: string }>(
        `SELECT coalesce(sum(calls), 0) AS calls FROM pg_stat_statements
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND query ~ 'artifacts|grants|accounts|clients' AND query !~ 'pg_stat_statements'`,
      );
      return Number(rows[0]?.calls);
    };
    const callAll = async (): Promise<void> => {
      for (const token of tokens) await callOnce(second, token);
    };
    const unknown = await count(callAll);
    const known = await count(callAll);
    return {
      ...{ work: 'token unknown to a node', subject: 'gatehouse', value: unknown / tokens.length },
      ...{ unit: 'queries', details: { 'once it is known': known / tokens.length } },
    };
  } finally {
    await client.end();
  }
}

/** Compares calls at the node of their session with calls that the other node forwards, one at a time. */
async function measureForwarding(
  { servers, origins: [first, second] }: TwoNodes,
  pace: Pace,
  folder: string,
): Promise<Row[]> {
  const token = await obtainAccessToken(first, ['mcp']);
  const sessionsAt = (origin: string): Promise<string[]> =>
    Promise.all(Array.from({ length: sessionsOfNode }, () => openSession(`${origin}/mcp`, token)));
  const owned = new Map([
    [first, await sessionsAt(first)],
    [second, await sessionsAt(second)],
  ]);
  const load = (origin: string): Load => ({
    ...{ url: `${origin}/mcp`, method: 'POST', headers: headersFor('session', token) },
    ...{ body: callBody('session'), sessions: owned.get(first) ?? [] },
  });
  const work = 'call, session, two nodes';
  const subjects = [
    { name: 'at its node', server: servers[0], load: load(first) },
    { name: 'forwarded', server: servers[1], load: load(second) },
  ];
  for (const subject of subjects) await checkEcho(subject.load);
  const runs = await takeTurns(subjects, pace, (subject, seconds) =>
    runWrk(subject.server, subject.load, { folder, connections: 1, seconds }),
  );

  let forwarded = 0;
  const origins = [...owned.keys()];
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(Math.random() * items.length)] as Item;
  for (let call = 0; call < dealtCalls; call++) {
    const [asked, owner] = [pick(origins), pick(origins)];
    if (asked !== owner) forwarded++;
    await checkEcho({ ...load(asked), sessions: [pick(owned.get(owner) ?? [])] });
  }
  return [
    ...subjects.map(({ name }, at) => rowOfRuns(work, name, runs[at] ?? [])),
    {
      ...{ work: 'calls dealt out at random', subject: 'forwarded', value: (100 * forwarded) / dealtCalls },
      ...{ unit: '%', details: { calls: dealtCalls, 'of 2026-07-28': '0 %' } },
    },
  ];
}

/**
 * Measures Gatehouse on PostgreSQL: one node beside one on SQLite, and two nodes.
 * @throws Error if there is no PostgreSQL, or one answer is not the right one
 */
export async function measureCluster(pace: Pace, folder: string): Promise<Row[]> {
  const postgres = await startPostgres(['shared_preload_libraries=pg_stat_statements']);
  let two: TwoNodes | undefined;
  try {
    const rows = await measureStorages(pace, folder, postgres);
    const database = await postgres.createDatabase();
    two = await startTwoNodes(folder, database);
    rows.push(await countQueries(two, database));
    rows.push(...(await measureForwarding(two, pace, folder)));
    return rows;
  } finally {
    await Promise.all(two?.servers.map((server) => server.stop()) ?? []);
    await postgres.close();
  }
}
