// Flows of src/storage/postgres/connection/database.ts and src/cluster/node.ts: PostgreSQL away, killed, or out of reach.
// With GATEHOUSE_CLUSTER_OUTAGES=3 each outage comes three times, and the figures are printed.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { obtainTokens, refresh, type Tokens } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { openSession, type RawSession } from '../restart/support/session.ts';
import { checkLedger, describeLedger, newLedger, runLoad } from './support/load.ts';
import { type NodeProcesses, startNodeProcesses } from './support/node-processes.ts';
import { type CutPlace, prepareCutPlace } from './support/partition.ts';

const wanted = process.env.GATEHOUSE_CLUSTER_OUTAGES;
const times = Number(wanted || 1);
const timeoutMs = 120_000 + times * 90_000;
/** A node accepts nothing from memory for longer, and has ended its streams by then. */
const fenceMs = 5_000;

const server = usePostgres({ isOwn: true });
let two: NodeProcesses;
let place: CutPlace;
beforeEach(async () => {
  const database = await server().createDatabase();
  place = await prepareCutPlace(database);
  const { namespace, host, database: seenAs } = place;
  two = await startNodeProcesses({
    ...{ database, count: 2, server: 'slow' },
    place: (index) => (index === 0 ? { namespace, host, database: seenAs } : undefined),
  });
});
afterEach(async () => {
  await two.stop();
  place.close();
});

/** What was seen while the database was out of reach; times in milliseconds since then, or since it was back. */
interface Outage {
  /** Last response of 200 with a known token. */
  acceptedUntilMs: number;
  /** First 503. */
  refusedAfterMs: number;
  /** First 503 of `/readyz`. */
  notReadyAfterMs: number;
  /** End of the last stream. */
  streamsEndedAfterMs: number;
  /** First response of 200 and first refresh after it is back. */
  servedAgainAfterMs: number;
  refreshedAgainAfterMs: number;
  /** Statuses other than 200 and 503, and 503 without Retry-After. */
  wrong: string[];
}

const list = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list', params: {} });

/** Watches a node while a fault lasts for some seconds. */
async function watchOutage(
  port: number,
  {
    begin,
    end,
    seconds,
  }: { begin: () => Promise<void> | void; end: () => Promise<void> | void; seconds: number },
): Promise<Outage> {
  two.balancer.only(undefined);
  const { clientId, tokens } = await obtainTokens(two, { scopes: ['mcp'], scope: 'mcp' });
  two.balancer.only(port);
  const sessions: RawSession[] = [];
  for (let at = 0; at < 5; at++) sessions.push(await openSession({ ...two, token: tokens.access_token }));
  const streams = await Promise.all(sessions.map((session) => session.listen()));
  const origin = two.url;
  const wrong: string[] = [];
  let id = 1;
  const ask = async (): Promise<number> => {
    const response = await sessions[0]?.post(list(id++));
    await response?.text();
    const status = response?.status ?? 0;
    if (status === 503 && response?.headers.get('retry-after') === null)
      wrong.push('503 without Retry-After');
    if (status !== 200 && status !== 503) wrong.push(`a call: ${status}`);
    return status;
  };
  const isReady = async (): Promise<boolean> => (await fetch(`${origin}/readyz`)).ok;

  await begin();
  const beganAt = performance.now();
  const since = (from: number): number => Math.round(performance.now() - from);
  const ends = Promise.all(streams.map((stream) => stream.rest().then(() => since(beganAt))));
  const unready = (async () => {
    while ((await isReady()) && since(beganAt) < 30_000) await sleep(50);
    return since(beganAt);
  })();
  let acceptedUntilMs = 0;
  let refusedAfterMs = Number.NaN;
  while (since(beganAt) < seconds * 1_000) {
    const asked = since(beganAt);
    const status = await ask();
    if (status === 200) acceptedUntilMs = asked;
    else if (Number.isNaN(refusedAfterMs)) refusedAfterMs = since(beganAt);
    await sleep(50);
  }
  const [streamsEnded, notReadyAfterMs] = [await ends, await unready];

  await end();
  const backAt = performance.now();
  while ((await ask()) !== 200 && since(backAt) < 60_000) await sleep(50);
  const servedAgainAfterMs = since(backAt);
  let renewed: Response;
  do {
    renewed = await refresh(origin, clientId, tokens.refresh_token);
    if (renewed.status !== 200 && renewed.status !== 503) wrong.push(`a refresh: ${renewed.status}`);
  } while (renewed.status !== 200 && since(backAt) < 60_000);
  const refreshedAgainAfterMs = since(backAt);
  const next = (await renewed.json()) as Tokens;
  if ((await refresh(origin, clientId, next.refresh_token)).status !== 200) wrong.push('the login is lost');
  two.balancer.only(undefined);
  return {
    ...{ acceptedUntilMs, refusedAfterMs, notReadyAfterMs, servedAgainAfterMs, refreshedAgainAfterMs, wrong },
    streamsEndedAfterMs: Math.max(...streamsEnded),
  };
}

function expectFailedSafe(outage: Outage, name: string): void {
  const figures = `${name}: ${JSON.stringify(outage)}`;
  if (wanted) process.stdout.write(`${figures}\n`);
  expect(outage.wrong, figures).toEqual([]);
  expect(outage.acceptedUntilMs, figures).toBeLessThan(patience(fenceMs));
  expect(outage.streamsEndedAfterMs, figures).toBeLessThan(patience(fenceMs + 500));
  expect(outage.notReadyAfterMs, figures).toBeLessThan(patience(fenceMs + 2_000));
  expect(outage.servedAgainAfterMs, figures).toBeLessThan(patience(10_000));
}

describe('a node', () => {
  it(
    'fails closed while PostgreSQL is stopped, and serves by itself once it is back (T-171)',
    async () => {
      for (let time = 0; time < times; time++) {
        const port = two.nodes[1]?.listensAt.port ?? 0;
        const { stop, start } = server();
        expectFailedSafe(await watchOutage(port, { begin: stop, end: start, seconds: 8 }), 'stopped');
      }
    },
    timeoutMs,
  );

  it(
    'fails closed while a firewall drops all packets between it and PostgreSQL, and serves by itself afterwards; the other node goes on (T-171)',
    async () => {
      for (let time = 0; time < times; time++) {
        const port = two.nodes[0]?.listensAt.port ?? 0;
        const outage = await watchOutage(port, {
          begin: () => place.cut(),
          async end() {
            two.balancer.only(two.nodes[1]?.listensAt.port);
            const elsewhere = await obtainTokens(two, { scopes: ['mcp'], scope: 'mcp' });
            expect(elsewhere.tokens.access_token).toBeDefined();
            two.balancer.only(port);
            place.mend();
          },
          seconds: 12,
        });
        expectFailedSafe(
          outage,
          place.namespace === undefined ? 'cut off by a relay' : 'cut off by a firewall',
        );
      }
    },
    timeoutMs,
  );
});

describe('under load', () => {
  it.each([
    ['PostgreSQL is killed and started again', () => server().crash()],
    [
      'all connections to PostgreSQL are cut',
      () =>
        server().query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname LIKE 'test_%'",
        ),
    ],
  ])(
    'nothing acknowledged is lost, and nothing doubled, while %s again and again (T-164, T-165)',
    async (name, strike) => {
      const ledger = newLedger();
      const ending = new AbortController();
      const load = runLoad({ installation: two, ledger, clients: 6, signal: ending.signal });
      load.catch(() => undefined);
      await expect.poll(() => ledger.answered.length, { timeout: 60_000 }).toBeGreaterThan(0);
      for (let time = 0; time < 3 * times; time++) {
        await sleep(3_000);
        await strike();
      }
      await sleep(1_000);
      ending.abort();
      await load;
      await checkLedger(two, ledger);
      const figures = `${3 * times} times ${name}: ${describeLedger(ledger)}`;
      if (wanted) process.stdout.write(`${figures}\n`);
      expect(ledger.wrong, figures).toEqual([]);
      expect(ledger.unresumable, figures).toBe(0);
      expect(ledger.answered.length, figures).toBeGreaterThan(0);
    },
    timeoutMs,
  );
});
