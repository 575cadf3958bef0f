// Flows of `gatehouse keys rewrap`, killed at each of its steps, while a node serves.
import { describe, expect, it } from 'vitest';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import { openPostgres } from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { connectTo } from '../../storage/postgres/subject.ts';
import { obtainTokens, refresh } from '../../support/oauth.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { type ProcessNodes, prepareNodes } from '../../support/postgres/process-nodes.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { commandLine } from '../../support/served.ts';

const server = usePostgres();

/** Returns whether the keys can be opened with a master key. */
async function opensWith({ database }: ProcessNodes, text: string): Promise<boolean> {
  const masterKey = async (): Promise<SealingKey> => parseMasterKey(text) as SealingKey;
  try {
    await (await openPostgres({ url: database, masterKey })).storage.close();
    return true;
  } catch (error) {
    expect(String(error)).toContain('sealed under another master key');
    return false;
  }
}

function rewrap(nodes: ProcessNodes, newKey: string): Program {
  return runProgram(
    commandLine,
    ['keys', 'rewrap', '--config', nodes.writeConfig(), '--new-env', 'NEW_KEY'],
    { input: '', env: { ...nodes.env, NEW_KEY: newKey } },
  );
}

describe('gatehouse keys rewrap', () => {
  it('leaves the old or the new master key valid wherever it is killed, and a node that runs serves on', async () => {
    const nodes = await prepareNodes(server());
    const first = await nodes.start();
    const person = { email: 'owner@localhost', password: first.password ?? '' };
    const { clientId, tokens } = await obtainTokens(nodes, { person });
    const [oldKey, newKey] = [nodes.env.MASTER_KEY, generateMasterKey()];
    const other = await connectTo(nodes.database);
    const waits = async (): Promise<number> =>
      (
        await other.query(
          `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
           WHERE NOT granted AND datname = current_database()`,
        )
      ).rows.length;

    // Before its turn, and between its change and its commit.
    for (const lock of [
      'LOCK TABLE commit_order IN EXCLUSIVE MODE',
      'LOCK TABLE audit_ends IN EXCLUSIVE MODE',
    ]) {
      await other.query(`BEGIN; ${lock}`);
      const killed = rewrap(nodes, newKey);
      await expect.poll(waits, { timeout: 20_000 }).toBeGreaterThan(0);
      killed.process.kill('SIGKILL');
      await killed.ended;
      await other.query('ROLLBACK');
      expect([await opensWith(nodes, oldKey), await opensWith(nodes, newKey)]).toEqual([true, false]);
    }

    const done = rewrap(nodes, newKey);
    await done.waitFor('stdout', /The keys are sealed under master-\S+ now, no longer under master-\S+\./);
    done.process.kill('SIGKILL');
    await done.ended;
    expect(done.written.stdout + done.written.stderr).not.toContain(newKey);
    expect([await opensWith(nodes, oldKey), await opensWith(nodes, newKey)]).toEqual([false, true]);
    const again = rewrap(nodes, newKey);
    expect(await again.ended).toBe(0);
    expect(again.written.stdout).toMatch(
      /^The keys are sealed under master-\S+ already\. Nothing was changed\./,
    );

    expect((await refresh(nodes.url, clientId, tokens.refresh_token)).status).toBe(200);
    const refused = nodes.run();
    expect(await refused.ended).not.toBe(0);
    expect(refused.written.stderr).toContain(
      'sealed under another master key. Give this node the master key',
    );
    nodes.env.MASTER_KEY = newKey;
    const second = await nodes.start();
    nodes.balancer.only(second.port);
    const more = await obtainTokens(nodes, { person });
    nodes.balancer.only(first.port);
    expect((await refresh(nodes.url, more.clientId, more.tokens.refresh_token)).status).toBe(200);
  }, 300_000);
});
