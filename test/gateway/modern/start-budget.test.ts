import { expect, it } from 'vitest';
import { StartBudget } from '../../../src/gateway/modern/start-budget.ts';
import { createCaller } from '../../mcp/support/modern-calls.ts';

const [ada, bob] = [createCaller().authInfo, createCaller('bob').authInfo];

/** A budget of 50 s, and its clock. */
function start() {
  const clock = { nowMs: 100_000 };
  const budget = new StartBudget(50_000, () => clock.nowMs);
  return { clock, budget };
}

it('the time of a start is less by what its caller has waited before, and by nobody else’s wait (T-158)', () => {
  const { clock, budget } = start();
  budget.waited(ada, clock.nowMs - 20_000);
  expect([bob, undefined, ada].map((caller) => budget.takeMs(caller))).toEqual([50_000, 50_000, 30_000]);
});

it('what was waited counts for one start, and until there was an answer', () => {
  const { clock, budget } = start();
  budget.waited(ada, clock.nowMs - 20_000);
  expect([budget.takeMs(ada), budget.takeMs(ada)]).toEqual([30_000, 50_000]);
  budget.waited(ada, clock.nowMs - 20_000);
  budget.answered(ada);
  expect(budget.takeMs(ada)).toBe(50_000);
});

it('of two who waited for the same, the first counts; what comes later is another wait', () => {
  const { clock, budget } = start();
  budget.waited(ada, clock.nowMs - 20_000);
  budget.waited(ada, clock.nowMs - 5);
  expect(budget.takeMs(ada)).toBe(30_000);
  budget.waited(ada, clock.nowMs - 20_000);
  clock.nowMs += 10_000;
  expect(budget.takeMs(ada), 'who waits for nothing').toBe(30_000);
  budget.waited(ada, clock.nowMs - 20_000);
  clock.nowMs += 2000;
  budget.waited(ada, clock.nowMs - 5);
  expect(budget.takeMs(ada)).toBe(49_995);
});

it('no start has less than no time, and who started nothing for so long has waited for none', () => {
  const { clock, budget } = start();
  budget.waited(ada, clock.nowMs - 60_000);
  budget.waited(bob, clock.nowMs - 10_000);
  expect(budget.takeMs(ada)).toBe(0);
  clock.nowMs += 50_000;
  expect(budget.takeMs(bob)).toBe(50_000);
});
