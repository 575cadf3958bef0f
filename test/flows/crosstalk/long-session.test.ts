// Flows of src/mcp/legacy/session.ts and src/storage/sqlite/stores/mcp-sessions.ts: one session that is used for long.
// The number of calls is GATEHOUSE_LONG_SESSION_CALLS, 25,000 by default; seen flat with a hundred thousand.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAdministration } from '../../../src/index.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { ada, type RunningGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { Call } from './support/call.ts';
import { endConnections, send } from './support/http.ts';
import { inParallel } from './support/in-parallel.ts';
import { initialize } from './support/sessions.ts';
import { newTally } from './support/tally.ts';

const wanted = process.env.GATEHOUSE_LONG_SESSION_CALLS;
const callCount = Number(wanted ?? 25_000);
/** After so many, everything that is kept a bounded number of is full. */
const warmUpCount = Math.min(20_000, callCount / 2);
const folder = testFolderForFile();
let program: Program;
let port: number;
let name: string;
let headers: Record<string, string>;
beforeAll(async () => {
  const data = await openDataFolder(folder);
  const account = await createAdministration(data).accounts.add(ada.email, ada.password);
  await data.storage.close();
  program = runProgram('test/flows/crosstalk/support/soak.ts', [folder]);
  const [, listening] = await program.waitFor('stdout', /"port":(\d+)/);
  port = Number(listening);
  const url = `http://localhost:${port}`;
  const gatehouse = { url, mcpUrl: `${url}/mcp` } as RunningGatehouse;
  const { tokens, clientId } = await obtainTokens(gatehouse, { scopes: ['mcp'], scope: 'mcp' });
  name = `${account.id} ${clientId}`;
  headers = { authorization: `Bearer ${tokens.access_token}` };
  const opened = await send({ port, path: '/mcp', headers, body: initialize('2025-11-25') });
  headers['mcp-session-id'] = String(opened.headers['mcp-session-id']);
});
afterAll(async () => {
  endConnections();
  await program.stop();
});

/** Calls from one turn to another, sixteen at once; every twentieth is answered on a stream. */
async function callTurns(from: number, to: number): Promise<void> {
  const tally = newTally();
  await inParallel(16, to - from, async (at) => {
    const turn = from + at;
    const call = new Call(name, `l${turn}`, { kind: turn % 20 === 3 ? 'steps' : 'echo', id: turn, tally });
    const onMessage = call.hear.bind(call);
    await send({ port, path: '/mcp', headers, body: call.request(), onMessage });
    call.end();
  });
  expect(tally).toMatchObject({ answered: to - from, wrong: [] });
}

let measured = 0;
/** Memory in use after garbage collection, in bytes. */
async function measure(): Promise<number> {
  measured++;
  program.process.stdin?.write(`${measured}\n`);
  const [, heapUsed] = await program.waitFor('stdout', new RegExp(`"line":"${measured}","heapUsed":(\\d+)`));
  return Number(heapUsed);
}

/** How many rows each table has. */
function countRows(): Record<string, number> {
  const database = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    const tables = database
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .pluck()
      .all();
    const count = (table: string): number =>
      Number(database.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    return Object.fromEntries(tables.map((table) => [table, count(table)]));
  } finally {
    database.close();
  }
}

it('a session of many thousand calls needs no more memory and no more rows than one of a few (T-143)', async () => {
  await callTurns(0, warmUpCount);
  const before = { memory: await measure(), rows: countRows() };
  await callTurns(warmUpCount, callCount);
  const after = { memory: await measure(), rows: countRows() };
  if (wanted) console.log(before, after);
  expect(after.memory - before.memory).toBeLessThan(2_000_000);
  for (const [table, rows] of Object.entries(after.rows))
    expect.soft(rows, table).toBeLessThanOrEqual((before.rows[table] ?? 0) + 50);
}, 600_000);
