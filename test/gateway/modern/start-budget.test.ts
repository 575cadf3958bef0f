import { expect, it } from 'vitest';
import { StartBudget } from '../../../src/gateway/modern/start-budget.ts';
import { createCaller } from '../../mcp/support/modern-calls.ts';

it('the time of a start is less by what its caller has waited before, and by nobody else’s wait (T-158)', () => {
  let nowMs = 0;
  const budget = new StartBudget(50_000, () => nowMs);
  const [ada, bob] = [createCaller().authInfo, createCaller('bob').authInfo];
  const left = () => [ada, bob, undefined].map((caller) => budget.leftMs(caller));
  budget.waited(ada, 20_000);
  expect(left()).toEqual([30_000, 50_000, 50_000]);
  budget.answered(ada);
  expect(left()).toEqual([50_000, 50_000, 50_000]);
  budget.waited(ada, 60_000);
  nowMs = 1;
  budget.waited(bob, 10_000);
  expect(left()).toEqual([0, 40_000, 50_000]);
  nowMs = 50_000;
  expect(left()).toEqual([50_000, 40_000, 50_000]);
});
