import { isSpecType } from '@modelcontextprotocol/server';
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

it('A capability that is no object is left out, so that clients take those of the other backends (FA-43)', () => {
  const joined = joinCapabilities([
    { experimental: { a: true, b: { of: 1 }, c: null, d: [] }, extensions: { e: 'on' } },
    { extensions: { f: {} } },
  ]);
  expect(joined).toEqual({ experimental: { b: { of: 1 } }, extensions: { f: {} } });
  expect(isSpecType.ServerCapabilities(joined)).toBe(true);
});
