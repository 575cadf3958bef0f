// Flows of src/storage/postgres/connection/change-marks.ts: what ends at one node ends at the other.
// The full number is five hundred: GATEHOUSE_CLUSTER_REVOCATIONS=500 npx vitest run test/flows/cluster/revocations
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { obtainTokens, post, register } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { createVisitor } from '../../support/visitor.ts';
import { openSession } from '../restart/support/session.ts';
import { describeTimes } from './support/figures.ts';
import { type NodeProcesses, startNodeProcesses } from './support/library-nodes.ts';

const times = Number(process.env.GATEHOUSE_CLUSTER_REVOCATIONS || 6);

const server = usePostgres();
let two: NodeProcesses;
beforeAll(async () => {
  two = await startNodeProcesses({
    database: await server().createDatabase(),
    count: 2,
    server: 'slow',
  });
});
afterAll(() => two.stop());

it(
  `A revocation at one node ends a stream at the other and refuses requests there within a second, ${times} times (T-103)`,
  async () => {
    const visitor = createVisitor();
    const { client_id: clientId } = await register(two.url);
    const endedAfterMs: number[] = [];
    const refusedAfterMs: number[] = [];
    for (let time = 0; time < times; time++) {
      const [here, there] = [two.nodes[time % 2], two.nodes[(time + 1) % 2]];
      two.balancer.only(undefined);
      const { tokens } = await obtainTokens(two, { clientId, visitor, scopes: ['mcp'], scope: 'mcp' });
      two.balancer.only(there?.listensAt.port);
      const session = await openSession({ mcpUrl: two.mcpUrl, token: tokens.access_token });
      const stream = await session.listen();
      expect(stream.response.status).toBe(200);
      two.balancer.only(here?.listensAt.port);
      const ended = stream.rest().then(() => performance.now());
      const revoked = await post(`${two.url}/revoke`, { token: tokens.refresh_token, client_id: clientId });
      const revokedAt = performance.now();
      expect(revoked.status).toBe(200);
      two.balancer.only(there?.listensAt.port);
      const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
      while ((await session.post(ping)).status !== 401) await sleep(10);
      refusedAfterMs.push(performance.now() - revokedAt);
      endedAfterMs.push((await ended) - revokedAt);
    }
    const figures = `streams ended: ${describeTimes(endedAfterMs)}; requests refused: ${describeTimes(refusedAfterMs)}`;
    if (process.env.GATEHOUSE_CLUSTER_REVOCATIONS) process.stdout.write(`revocations: ${figures}\n`);
    expect(Math.max(...endedAfterMs, ...refusedAfterMs), figures).toBeLessThan(patience(1_000));
  },
  60_000 + times * 5_000,
);
