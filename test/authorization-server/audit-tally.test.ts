import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuditTally, maxKinds, tallyWindowMs } from '../../src/authorization-server/audit-tally.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function startTally() {
  const rows: object[] = [];
  const write = (event: string, details: object) => void rows.push({ event, ...details });
  const tally = createAuditTally(write);
  const refuse = (details: Record<string, string>, event = 'token.refused'): void => {
    if (tally.isFirst(event, details)) write(event, details);
  };
  return { tally, rows, refuse };
}

describe('what anybody can cause', () => {
  it('is written when it comes first, and at the end of the window with how often it came again (T-197)', () => {
    const { rows, refuse } = startTally();
    const one = { address: 'a', clientId: 'c', reason: 'not found' };
    for (const requestId of ['r1', 'r2', 'r3']) refuse({ ...one, requestId });
    for (const other of [{ address: 'b' }, { clientId: 'd' }, { reason: 'expired' }])
      refuse({ ...one, ...other });
    refuse(one, 'login.failed');
    const firsts = [
      { event: 'token.refused', ...one, requestId: 'r1' },
      { event: 'token.refused', ...one, address: 'b' },
      { event: 'token.refused', ...one, clientId: 'd' },
      { event: 'token.refused', ...one, reason: 'expired' },
      { event: 'login.failed', ...one },
    ];
    vi.advanceTimersByTime(tallyWindowMs - 1);
    expect(rows).toEqual(firsts);
    vi.advanceTimersByTime(1);
    expect(rows).toEqual([...firsts, { event: 'token.refused', ...one, times: '2' }]);
  });

  it('is written anew in the next window, and nothing in one without any', () => {
    const { rows, refuse } = startTally();
    for (let window = 1; window <= 2; window++) {
      refuse({ address: 'a' });
      vi.advanceTimersByTime(2 * tallyWindowMs);
      expect(rows).toHaveLength(window);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is counted by its address where somebody makes up many names there (T-197)', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 1000; n++) refuse({ address: 'a', clientId: `c${n}` });
    refuse({ address: 'b', clientId: 'c' });
    refuse({ address: 'a', clientId: 'c0' });
    expect(rows).toHaveLength(maxKinds.ofAddress + 2);
    tally.end();
    expect(rows.slice(maxKinds.ofAddress + 2)).toEqual([
      { event: 'token.refused', address: 'a', clientId: 'c0', times: '1' },
      { event: 'token.refused', address: 'a', times: String(1000 - maxKinds.ofAddress - 1) },
    ]);
  });

  it('is counted by all that is known of it where it has no address', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 60; n++) refuse({ upstream: `u${n % 30}` });
    tally.end();
    expect(rows).toHaveLength(60);
    expect(rows.slice(30)).toContainEqual({ event: 'token.refused', upstream: 'u29', times: '1' });
  });

  it('has a bounded number of rows, whatever addresses and names somebody has (T-197)', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 10_000; n++) refuse({ address: `a${n % 1000}`, clientId: `c${n}` });
    refuse({ address: 'a' }, 'login.failed');
    expect(rows).toHaveLength(maxKinds.ofAll + 2);
    tally.end();
    expect(rows.slice(maxKinds.ofAll + 2)).toEqual([
      { event: 'token.refused', times: String(10_000 - maxKinds.ofAll - 1) },
    ]);
  });
});
