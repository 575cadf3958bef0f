// Flows of src/cluster/node.ts: nodes that are killed under load, one every two seconds.
// The full time is ten minutes: GATEHOUSE_CLUSTER_KILL_SECONDS=600 npx vitest run test/flows/cluster/kills
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { startNodeProcesses } from './support/library-nodes.ts';
import { checkLedger, describeLedger, newLedger, runLoad } from './support/load.ts';

const seconds = Number(process.env.GATEHOUSE_CLUSTER_KILL_SECONDS || 10);
const everyMs = 2_000;

const server = usePostgres();

it(
  `A node killed every two seconds for ${seconds} seconds takes nothing with it that was acknowledged, doubles nothing, and crosses no answer (T-164, T-165, T-166, T-127)`,
  async () => {
    const two = await startNodeProcesses({
      ...{ database: await server().createDatabase(), count: 2, server: 'slow' },
    });
    onTestFinished(() => two.stop());
    const ledger = newLedger();
    const ending = new AbortController();
    const load = runLoad({ installation: two, ledger, clients: 8, signal: ending.signal });
    load.catch(() => undefined);

    await expect.poll(() => ledger.answered.length, { timeout: 60_000 }).toBeGreaterThan(0);
    const endsAt = performance.now() + seconds * 1_000;
    let kills = 0;
    // The next one is killed only when the last has started again: with none left nothing can be shown.
    for (let next = 0; performance.now() < endsAt; next = 1 - next) {
      const due = sleep(everyMs);
      await two.nodes[next]?.kill();
      kills++;
      await two.nodes[next]?.restart();
      await due;
    }
    ending.abort();
    await load;

    await checkLedger(two, ledger);
    const { wrong } = ledger;
    const figures = describeLedger(ledger);
    if (process.env.GATEHOUSE_CLUSTER_KILL_SECONDS) process.stdout.write(`${kills} kills: ${figures}\n`);
    expect(wrong, figures).toEqual([]);
    expect(ledger.unresumable, figures).toBe(0);
    expect(kills).toBeGreaterThan(1);
    expect(ledger.answered.length, figures).toBeGreaterThan(kills);
  },
  180_000 + seconds * 4_000,
);
