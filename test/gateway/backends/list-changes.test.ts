import { expect, it } from 'vitest';
import { listsOf, withListChanges } from '../../../src/gateway/backends/list-changes.ts';

it('Each list of a server behind the gateway may change, whatever it says itself; nothing else is added (FA-44)', () => {
  const capabilities = { tools: {}, resources: { subscribe: true, listChanged: false }, logging: {} };
  const all = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
  };
  expect(listsOf(capabilities)).toEqual(all);
  const answer = { jsonrpc: '2.0' as const, id: 1, result: { capabilities, serverInfo: { name: 'a' } } };
  expect(withListChanges(answer)).toEqual({ ...answer, result: { ...answer.result, capabilities: all } });
});

it('An answer without capabilities, or an error, stays as it is (FA-44)', () => {
  for (const content of [
    { error: { code: 1, message: 'no' } },
    { result: {} },
    { result: { capabilities: 'all' } },
  ]) {
    const answer = { jsonrpc: '2.0' as const, id: 1, ...content };
    expect(withListChanges(answer)).toBe(answer);
  }
  expect(listsOf(undefined)).toEqual({});
});
