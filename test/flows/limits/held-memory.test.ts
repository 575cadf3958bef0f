import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { grace } from '../../support/served.ts';
import {
  beginCalls,
  callSmall,
  finishCalls,
  type LargeGatehouse,
  rows,
  startLargeGatehouse,
} from './support/slow-clients.ts';

const load = { calls: 100, bytes: 15_000_000 };
const megabyte = 1_000_000;
let gatehouse: LargeGatehouse;
/** Memory of the process before the first row. */
let start: number;

beforeAll(async () => {
  gatehouse = await startLargeGatehouse({});
  start = gatehouse.residentBytes();
}, 60_000);

afterAll(() => gatehouse.stop());

describe('100 answers of 15 MB to clients that do not read', () => {
  it.each(rows)(
    'take at most 512 MB with the default settings, from the server at "%s" by %s (FA-07, T-205)',
    async (...row) => {
      const [route, door] = row;
      const path = `${route}/mcp`;
      const other = await gatehouse.tokenOf(grace, path);
      await callSmall(gatehouse, path, other);
      let most = start;
      const watch = setInterval(() => {
        most = Math.max(most, gatehouse.residentBytes());
      }, 20);
      try {
        const sleepers = await beginCalls(gatehouse, row, load);
        await vi.waitFor(
          async () => expect(await gatehouse.metric('gatehouse_held_bytes')).toBeGreaterThan(0),
          60_000,
        );
        let slowestMs = 0;
        for (let round = 0; round < 5; round++)
          slowestMs = Math.max(slowestMs, await callSmall(gatehouse, path, other));
        const outcomes = await finishCalls(sleepers, door, load);
        const grown = Math.round((most - start) / megabyte);
        process.stdout.write(
          `${JSON.stringify({ route, door, grown, slowestMs: Math.round(slowestMs), ...outcomes })}\n`,
        );
        expect(outcomes).toMatchObject({ unexplained: 0 });
        expect(outcomes.whole + outcomes.error + outcomes.cut).toBe(load.calls);
        expect(grown).toBeLessThan(512);
      } finally {
        clearInterval(watch);
      }
    },
    300_000,
  );
});
