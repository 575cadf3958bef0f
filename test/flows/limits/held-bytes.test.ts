// Flows through src/mcp/http/held-bytes.ts and src/mcp/http/node-reply.ts.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { patience } from '../../support/patience.ts';
import { grace } from '../../support/served.ts';
import { isLong } from '../../support/share.ts';
import {
  beginCalls,
  callSmall,
  finishCalls,
  type LargeGatehouse,
  rows,
  startLargeGatehouse,
} from './support/slow-clients.ts';

// More than the buffers of a socket take at once.
const load = { calls: 10, bytes: 11_000_000 };
const heldBytes = { perAccount: 24_000_000, total: 48_000_000, patienceSeconds: 1 };
/** Each door, and each way in which a server answers. */
const daily = rows.filter(([route, door]) =>
  ['session', '/json rest', '/events 2026-07-28', '/programs session', 'sse'].includes(
    `${route} ${door}`.trim(),
  ),
);
let gatehouse: LargeGatehouse;

beforeAll(async () => {
  gatehouse = await startLargeGatehouse({ heldBytes });
});

afterAll(() => gatehouse.stop());

describe('10 answers of 11 MB to clients that do not read', () => {
  it.each(isLong ? rows : daily)(
    'end whole or with a definite error, and others are served, from the server at "%s" by %s (FA-07, T-205)',
    async (...row) => {
      const [route, door] = row;
      const path = `${route}/mcp`;
      const other = await gatehouse.tokenOf(grace, path);
      await callSmall(gatehouse, path, other);
      const sleepers = await beginCalls(gatehouse, row, load);
      await vi.waitFor(
        async () => expect(await gatehouse.metric('gatehouse_held_bytes')).toBeGreaterThan(0),
        20_000,
      );
      for (let round = 0; round < 5; round++) {
        const since = performance.now();
        expect((await fetch(`${gatehouse.listensAt}/healthz`)).status).toBe(200);
        expect(performance.now() - since).toBeLessThan(patience(1000));
        await callSmall(gatehouse, path, other);
        expect(await gatehouse.metric('gatehouse_held_bytes')).toBeLessThanOrEqual(
          heldBytes.total + 22_000_000,
        );
      }
      const outcomes = await finishCalls(sleepers, door, load);
      expect(outcomes).toMatchObject({ unexplained: 0 });
      expect(outcomes.whole + outcomes.error + outcomes.cut).toBe(load.calls);
      await vi.waitFor(async () => expect(await gatehouse.metric('gatehouse_held_bytes')).toBe(0), 20_000);
    },
  );
});
