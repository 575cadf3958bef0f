import { expect, it } from 'vitest';
import { joinCapabilities } from '../../../src/gateway/aggregate/capabilities.ts';

it('several backends can do what one of them can, with lists that change, and without tasks', () => {
  expect(joinCapabilities([])).toEqual({});
  expect(
    joinCapabilities([
      { tools: {}, tasks: {}, extensions: { a: { of: 1 }, b: {} } },
      { resources: { subscribe: true }, logging: {}, extensions: { a: { of: 2 }, __proto__: {} } },
      { prompts: {}, completions: {}, resources: {}, experimental: { c: {} } },
    ]),
  ).toEqual({
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    logging: {},
    completions: {},
    experimental: { c: {} },
    extensions: { a: { of: 1 }, b: {} },
  });
});
