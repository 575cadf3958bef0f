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
      {
        event: 'token.refused',
        address: 'a',
        times: String(1000 - maxKinds.ofAddress - 1),
        others: 'true',
      },
    ]);
  });

  it('is counted by all that is known of it where it has no address', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 40; n++) refuse({ upstream: `u${n % 20}` });
    tally.end();
    expect(rows).toHaveLength(40);
    expect(rows.slice(20)).toContainEqual({ event: 'token.refused', upstream: 'u19', times: '1' });
  });

  it('has a bounded number of rows, whatever addresses and names somebody has (T-197)', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 10_000; n++) refuse({ address: `a${n % 1000}`, clientId: `c${n}` });
    expect(rows).toHaveLength(maxKinds.ofAll + 1);
    tally.end();
    expect(rows.slice(maxKinds.ofAll + 1)).toEqual([
      { event: 'token.refused', times: String(10_000 - maxKinds.ofAll - 1), others: 'true' },
    ]);
  });

  it('takes no room of another event (T-197)', () => {
    const { rows, refuse } = startTally();
    for (let n = 0; n < 1000; n++) refuse({ address: 'a', clientId: `c${n}` });
    for (let n = 0; n < 1000; n++) refuse({ address: `a${n}` });
    rows.splice(0);
    const failed = { address: 'a', accountId: 'ada', reason: 'password' };
    for (const accountId of ['ada', 'bob']) refuse({ ...failed, accountId }, 'login.failed');
    expect(rows).toEqual([
      { event: 'login.failed', ...failed },
      { event: 'login.failed', ...failed, accountId: 'bob' },
    ]);
  });

  it('names each account that was attacked, whatever else fills the room of that event (T-197)', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 1000; n++) refuse({ address: `a${n % 9}`, clientId: `c${n}`, accountId: 'eve' });
    rows.splice(0);
    for (const clientId of ['c', 'd', 'c']) refuse({ address: 'a', clientId, accountId: 'ada' });
    refuse({ address: 'a', clientId: 'c', accountId: 'bob' });
    refuse({ address: 'a', clientId: 'c', accountId: 'bob' });
    tally.end();
    expect(rows).toEqual(
      expect.arrayContaining([
        { event: 'token.refused', address: 'a', clientId: 'c', accountId: 'ada' },
        { event: 'token.refused', accountId: 'ada', times: '2', others: 'true' },
        { event: 'token.refused', address: 'a', clientId: 'c', accountId: 'bob' },
        { event: 'token.refused', address: 'a', clientId: 'c', accountId: 'bob', times: '1' },
      ]),
    );
  });

  it('has a bounded number of rows for accounts as well', () => {
    const { tally, rows, refuse } = startTally();
    for (let n = 0; n < 2000; n++) refuse({ address: 'a', accountId: `ada${n % 1000}` });
    const kinds = maxKinds.ofAddress + maxKinds.ofAccounts + 1;
    expect(rows).toHaveLength(kinds);
    tally.end();
    expect(rows).toHaveLength(2 * kinds);
  });

  it.each([
    ['limit.reached', { limit: 'tokens' }, 'claimedClientId', { limit: 'tokens' }],
    ['client.document_refused', {}, 'clientId', { clientHost: 'apps.example' }],
  ])(
    'of the event %s, what a stranger makes up is no kind of its own (T-197)',
    (event, details, made, kept) => {
      const { tally, rows, refuse } = startTally();
      const address = 'a';
      for (let n = 0; n < 100; n++) {
        refuse({ address, ...details, [made]: `https://apps.example/${n}` }, event);
      }
      tally.end();
      expect(rows).toEqual([
        { event, address, ...details, [made]: 'https://apps.example/0' },
        { event, address, ...kept, times: '99', others: 'true' },
      ]);
    },
  );

  it('with no detail but its address takes in no other for which there is room', () => {
    const { rows, refuse } = startTally();
    refuse({ address: 'a' });
    refuse({ address: 'a', reason: 'expired' });
    expect(rows).toEqual([
      { event: 'token.refused', address: 'a' },
      { event: 'token.refused', address: 'a', reason: 'expired' },
    ]);
  });
});
