import type { Context } from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createReadiness } from '../../src/app/health.ts';
import { startGatehouse } from '../support/gatehouse.ts';

/** A readiness whose database and clock a test holds. */
function prepare() {
  const state = { now: 0, writes: 0, fails: false, hangs: false, stopping: false };
  const answer = createReadiness({
    storage: {
      probeWrite: async () => {
        state.writes++;
        if (state.fails) throw new Error('disk full');
        if (state.hangs) await new Promise(() => undefined);
      },
    },
    isStopping: () => state.stopping,
    nowMs: () => state.now,
  });
  const ask = async (): Promise<[number, unknown]> => {
    const ctx = { set: () => undefined } as unknown as Context;
    await answer(ctx);
    return [ctx.status, ctx.body];
  };
  return { state, ask };
}

describe('readiness', () => {
  it('of a running server is 200, and tells nothing else (T-113)', async () => {
    const gatehouse = await startGatehouse();
    const response = await fetch(`${gatehouse.url}/readyz?verbose`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ready' }]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    await gatehouse.stop();
  });

  it('ends when the database takes no writes, and comes back with them (T-169)', async () => {
    const { state, ask } = prepare();
    state.fails = true;
    expect(await ask()).toEqual([503, { status: 'unavailable' }]);
    state.fails = false;
    state.now += 1000;
    expect(await ask()).toEqual([200, { status: 'ready' }]);
  });

  it('ends also if the database does not answer at all, within five seconds (T-169)', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { state, ask } = prepare();
    state.hangs = true;
    const asked = ask();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await asked).toEqual([503, { status: 'unavailable' }]);
  });

  it('costs one write a second, however many ask', async () => {
    const { state, ask } = prepare();
    await Promise.all(Array.from({ length: 50 }, ask));
    expect(state.writes).toBe(1);
    state.now += 999;
    await ask();
    expect(state.writes).toBe(1);
    state.now += 1;
    await ask();
    expect(state.writes).toBe(2);
  });

  it('ends when the server is told to stop, without asking the database (T-181)', async () => {
    const { state, ask } = prepare();
    state.stopping = true;
    expect(await ask()).toEqual([503, { status: 'stopping' }]);
    expect(state.writes).toBe(0);
  });
});
