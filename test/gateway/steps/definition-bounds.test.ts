import { expect, it } from 'vitest';
import {
  isTooLarge,
  maxDefinitionDepth,
  maxDefinitionLength,
} from '../../../src/gateway/steps/definition-bounds.ts';
import { patience } from '../../support/patience.ts';

function nested(depth: number): unknown {
  let value: unknown = 'end';
  for (let count = 0; count < depth; count++) value = count % 2 ? [value] : { a: value };
  return value;
}

it.each([
  ['a text', 'x'.repeat(maxDefinitionLength), 'x'.repeat(maxDefinitionLength - 100)],
  ['a name', { ['x'.repeat(maxDefinitionLength)]: 1 }, { ['x'.repeat(maxDefinitionLength - 100)]: 1 }],
  ['texts together', Array(70).fill('x'.repeat(4000)), Array(60).fill('x'.repeat(4000))],
  ['many empty values', Array(maxDefinitionLength / 8).fill({}), Array(10_000).fill({})],
  ['a depth', nested(maxDefinitionDepth + 1), nested(maxDefinitionDepth)],
])('a definition is too large by %s over the bound, and not within it (T-210)', (_what, over, within) => {
  expect([isTooLarge(over), isTooLarge(within)]).toEqual([true, false]);
});

it('a definition of any size is measured in no more time than the bound allows, without recursion (T-210)', () => {
  const wide = Array.from({ length: 1_000_000 }, () => ({ a: 'b' }));
  const deep = nested(1_000_000);
  const startedMs = performance.now();
  for (let count = 0; count < 100; count++)
    expect([isTooLarge(wide), isTooLarge(deep)]).toEqual([true, true]);
  expect(performance.now() - startedMs).toBeLessThan(patience(1000));
});
