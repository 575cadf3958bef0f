import { describe, expect, it } from 'vitest';
import {
  listsOf,
  withAssertion,
  withListChanges,
  withoutCallerAuth,
} from '../../../src/gateway/backends/message-rewrites.ts';
import type { Message } from '../../../src/mcp/protocol.ts';

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

describe('a message on its way to a backend', () => {
  it('has no _meta.auth of its caller, and all the rest (B7-17)', () => {
    const _meta = { auth: { KEY: 'x' }, progressToken: 1 };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', _meta } } as const;
    expect(withoutCallerAuth(message)).toEqual({
      ...message,
      params: { name: 'a', _meta: { progressToken: 1 } },
    });
    expect(message.params._meta).toBe(_meta);
  });

  it.each(['params', 'result'] as const)(
    'has no assertion of its caller in its %s, and gets one of the gateway in place of it',
    (place) => {
      const forged = { 'mcp-gatehouse/caller-assertion': 'forged', progressToken: 1 };
      const message: Message = { jsonrpc: '2.0', id: 1, [place]: { name: 'a', _meta: forged } };
      const cleaned = withoutCallerAuth(message);
      expect(cleaned).toEqual({ ...message, [place]: { name: 'a', _meta: { progressToken: 1 } } });
      expect(withAssertion(cleaned, 'signed').params?._meta).toMatchObject({
        'mcp-gatehouse/caller-assertion': 'signed',
      });
    },
  );

  it('is the same where there is nothing to take out', () => {
    const message = { jsonrpc: '2.0', method: 'ping', params: { auth: 'an argument' } } as const;
    expect(withoutCallerAuth(message)).toBe(message);
  });
});
