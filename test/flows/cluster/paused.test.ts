// Flows of src/cluster: a node that was paused for longer than its lease, and others that took over its session.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { dataFiles } from '../../../src/storage/sqlite/data-folder/data-folder.ts';
import type { EventReader, ReadEvent } from '../../mcp/support/event-reader.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { type PostgresServer, usePostgres } from '../../support/postgres/postgres.ts';
import { type ProcessNodes, prepareNodes, untilServed } from '../../support/postgres/process-nodes.ts';
import type { Program } from '../../support/program.ts';
import { openSession } from '../restart/support/session.ts';

const server = usePostgres();

/** What the program of a session says. */
interface Said {
  pid: number;
  /** Milliseconds since 1970. */
  at: number;
}

function readSaid({ message }: ReadEvent): Said | undefined {
  return message?.method === 'notifications/message' ? (message.params?.data as Said) : undefined;
}

/** Waits for something that the program of a session says. */
async function nextSaid(stream: EventReader): Promise<{ said: Said; stream: string }> {
  const event = await stream.until(({ method }) => method === 'notifications/message');
  return { said: readSaid(event) as Said, stream: event.id?.split('/')[0] ?? '' };
}

/** Returns the streams of sessions, and the number of events that each has. */
async function readStreams({ database, folder }: ProcessNodes): Promise<Record<string, number>> {
  const sql = `SELECT name, (SELECT count(*) FROM mcp_events WHERE stream_id = mcp_streams.id) AS events
    FROM mcp_streams`;
  let rows: { name: string; events: unknown }[];
  if (database === '') {
    const db = new Database(join(folder, dataFiles.database), { readonly: true });
    rows = db.prepare<[], { name: string; events: number }>(sql).all();
    db.close();
  } else {
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    rows = (await client.query<{ name: string; events: string }>(sql)).rows;
    await client.end();
  }
  return Object.fromEntries(rows.map(({ name, events }) => [name, Number(events)]));
}

/**
 * Pauses a node. On SQLite not while it holds the lock of a write, which would hold up the others until it runs again.
 * @returns the time, in milliseconds since 1970
 */
async function pause({ process: node }: Program, { database, folder }: ProcessNodes): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    node.kill('SIGSTOP');
    const pausedAt = Date.now();
    if (database !== '' || isWritable(join(folder, dataFiles.database))) return pausedAt;
    node.kill('SIGCONT');
    await sleep(20);
  }
  throw new Error('the node always writes');
}

function isWritable(file: string): boolean {
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

const program = join(import.meta.dirname, 'support', 'counting-program.ts');
const settings = {
  routes: { count: { path: '/', backend: { command: process.execPath, args: [program] } } },
};

/** Databases of the nodes; undefined for SQLite. */
const databases: [name: string, find: () => PostgresServer | undefined][] = [
  ['PostgreSQL', () => server()],
  ['one SQLite folder', () => undefined],
];

describe.each(databases)('a node on %s that is paused for eight seconds', (_name, storage) => {
  it('says nothing in a session that another node took over, to its client or in the database', async () => {
    const installation = await prepareNodes(storage(), { settings });
    const { balancer, mcpUrl } = installation;
    const first = await installation.start();
    const second = await installation.start();
    const person = { email: 'owner@localhost', password: first.password ?? '' };
    const { tokens } = await obtainTokens(
      { url: balancer.url, mcpUrl },
      { person, scopes: ['mcp'], scope: 'mcp' },
    );
    balancer.only(first.port);
    const session = await openSession({ mcpUrl, token: tokens.access_token });
    const before = await session.listen();
    const { said: saidFirst, stream: firstStream } = await nextSaid(before);

    const pausedAt = await pause(first.program, installation);
    balancer.only(second.port);
    const list = { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} };
    expect((await untilServed(session, list)).response.status).toBe(200);
    const after = await session.listen();
    const { said: saidSecond, stream: secondStream } = await nextSaid(after);
    expect(saidSecond.pid).not.toBe(saidFirst.pid);
    await sleep(pausedAt + 8_000 - Date.now());
    const { [firstStream]: events, ...streams } = await readStreams(installation);

    first.program.process.kill('SIGCONT');
    const late = (await before.rest()).map(readSaid).filter((said) => (said?.at ?? 0) > pausedAt);
    expect(late).toEqual([]);
    await first.program.waitFor('stderr', /cut off from the database: its MCP sessions end here/);
    const heard: Said[] = [];
    const resumedAt = Date.now();
    while (heard.filter(({ at }) => at > resumedAt).length < 10) heard.push((await nextSaid(after)).said);
    expect(new Set(heard.map(({ pid }) => pid))).toEqual(new Set([saidSecond.pid]));
    await expect
      .poll(async () => (await readStreams(installation))[secondStream])
      .toBeGreaterThan(streams[secondStream] ?? 0);
    const { [firstStream]: eventsNow, ...streamsNow } = await readStreams(installation);
    expect(eventsNow).toBe(events);
    expect(Object.keys(streamsNow)).toEqual(Object.keys(streams));

    // The node that was paused serves again, and forwards the session to the one that has it.
    balancer.only(first.port);
    expect((await untilServed(session, list)).response.status).toBe(200);
    expect((await nextSaid(after)).said.pid).toBe(saidSecond.pid);
  });
});
