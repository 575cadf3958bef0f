// Upgrades of the schema while nodes run: a newer program is a copy of this one with one more migration.
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { programSchema } from '../../../src/storage/postgres/connection/schema.ts';
import { testFolder } from '../../client/support/folder.ts';
import { approve, authorization, obtainTokens, redeem, refresh, type Tokens } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { type ProcessNode, type ProcessNodes, prepareNodes } from '../../support/postgres/process-nodes.ts';
import { repository } from '../../support/program.ts';
import { openSession } from '../restart/support/session.ts';

const server = usePostgres();

/** Builds a program with one more migration, and returns the entry of its command line. */
function buildNewerProgram(sql: string): string {
  const folder = testFolder();
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(repository, part), join(folder, part), { recursive: true });
  for (const part of ['node_modules', 'config'])
    symlinkSync(join(repository, part), join(folder, part), 'dir');
  writeFileSync(join(folder, 'migrations/postgres/9001_newer.sql'), sql);
  return join(folder, 'src/cli/main.ts');
}

/** Requests of all kinds, one after the other of each kind, until it is stopped. */
interface Load {
  /** Waits until so many requests of each kind have succeeded from now on. */
  untilSucceeded(times: number): Promise<void>;
  /** Stops a node meanwhile: calls may be told to try again. */
  whileStopping(work: () => Promise<void>): Promise<void>;
  /** Ends the load and returns what failed. */
  stop(): Promise<string[]>;
}

async function startLoad({ url, mcpUrl }: ProcessNodes, password: string): Promise<Load> {
  const person = { email: 'owner@localhost', password };
  const first = await obtainTokens({ url, mcpUrl }, { person });
  const session = await openSession({ mcpUrl, token: first.tokens.access_token });
  const done = { logins: 0, refreshes: 0, calls: 0 };
  const failures: string[] = [];
  let isStopped = false;
  let isStopping = false;

  async function repeat(kind: keyof typeof done, work: () => Promise<Response>): Promise<void> {
    while (!isStopped) {
      try {
        const response = await work();
        if (response.status === 200) done[kind]++;
        // A session whose node stops is at the next one in a moment, as docs/postgresql.md says.
        else if (kind === 'calls' && isStopping && response.headers.has('retry-after')) await response.text();
        else failures.push(`${kind}: ${response.status} ${await response.text()}`);
      } catch (error) {
        failures.push(`${kind}: ${String(error)}`);
      }
    }
  }

  let refreshToken = first.tokens.refresh_token;
  const loops = [
    repeat('logins', async () => {
      const flow = authorization({ url, mcpUrl }, first.clientId);
      const callback = await approve(flow, { person });
      return redeem(url, flow, callback.searchParams.get('code') ?? '');
    }),
    repeat('refreshes', async () => {
      const response = await refresh(url, first.clientId, refreshToken);
      if (response.status !== 200) return response;
      const tokens = (await response.clone().json()) as Tokens;
      refreshToken = tokens.refresh_token;
      // Refreshes of a grant whose tokens nobody uses are slowed down.
      const used = await fetch(mcpUrl, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${tokens.access_token}`, 'mcp-session-id': session.id },
          ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: `refreshed ${done.refreshes}`, method: 'ping' }),
      });
      if (used.status !== 200 && !isStopping) failures.push(`a new token: ${used.status}`);
      await used.text();
      return response;
    }),
    repeat('calls', async () => session.post({ jsonrpc: '2.0', id: done.calls + 1, method: 'tools/list' })),
  ];
  return {
    async untilSucceeded(times) {
      const goal = Object.entries(done).map(([kind, count]) => [kind, count + times] as const);
      await expect
        .poll(
          () =>
            failures.length > 0 || goal.every(([kind, count]) => done[kind as keyof typeof done] >= count),
          { timeout: 90_000 },
        )
        .toBe(true);
    },
    async whileStopping(work) {
      isStopping = true;
      await work();
      isStopping = false;
    },
    async stop() {
      isStopped = true;
      await Promise.all(loops);
      return failures;
    },
  };
}

/** Takes a node away as an operator does: first from the balancer, then it is stopped. */
async function remove({ balancer }: ProcessNodes, node: ProcessNode): Promise<void> {
  balancer.ports.splice(balancer.ports.indexOf(node.port), 1);
  // Requests that are under way to it.
  await sleep(100);
  await node.program.stop();
}

describe('an upgrade of the schema', () => {
  it('that old nodes can follow fails no login, refresh or call, while old and new nodes serve side by side, whichever starts last', async () => {
    const newer = buildNewerProgram(
      `-- min_reader: ${programSchema()}
       ALTER TABLE artifacts ADD COLUMN colour text; CREATE INDEX artifacts_by_colour ON artifacts (colour);`,
    );
    // Each node counts the calls that it accepts itself.
    const settings = { limits: { refreshesWithoutCall: { times: 10_000 } } };
    const nodes = await prepareNodes(server(), { settings });
    const old = await nodes.start();
    const load = await startLoad(nodes, old.password ?? '');
    await load.untilSucceeded(2);

    const upgraded = await nodes.start(newer);
    expect(upgraded.program.written.stderr).toContain(
      `It is upgraded from schema ${programSchema()} to 9001; programs of schema ${programSchema()} or later can use it`,
    );
    await load.untilSucceeded(4);
    const laterOld = await nodes.start();
    await load.untilSucceeded(4);
    for (const node of [old, laterOld])
      await load.whileStopping(async () => {
        await remove(nodes, node);
        await load.untilSucceeded(2);
      });
    await load.untilSucceeded(2);
    expect(await load.stop()).toEqual([]);
  }, 300_000);

  it('that old nodes cannot follow waits until they have left, names them, and refuses their next start', async () => {
    const newer = buildNewerProgram('ALTER TABLE notes RENAME COLUMN text TO words;');
    const nodes = await prepareNodes(server());
    const old = await nodes.start();
    const load = await startLoad(nodes, old.password ?? '');
    const upgrading = nodes.run(newer);
    await upgrading.waitFor(
      'stderr',
      /Waiting to upgrade the database\. The node 127\.0\.0\.1:\d+ \(version \S+\) knows schema \d+ and could not use the upgraded database: stop it\./,
    );
    await load.untilSucceeded(3);
    expect(await load.stop()).toEqual([]);

    await remove(nodes, old);
    const upgraded = await nodes.join(upgrading);
    const { tokens } = await obtainTokens(nodes, {
      person: { email: 'owner@localhost', password: old.password ?? '' },
    });
    expect(tokens.access_token).not.toBe('');
    expect(upgraded.password).toBeUndefined();

    const refused = nodes.run();
    expect(await refused.ended).not.toBe(0);
    expect(refused.written.stderr).toMatch(
      /The database is of schema 9001 .* this program knows schemas up to \d+\. Use the newer program/,
    );
  }, 300_000);
});
