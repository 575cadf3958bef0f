import { describe, expect, it } from 'vitest';
import { withoutCallerAuth } from '../../../src/gateway/backends/without-caller-auth.ts';

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

  it('is the same where there is nothing to take out', () => {
    const message = { jsonrpc: '2.0', method: 'ping', params: { auth: 'an argument' } } as const;
    expect(withoutCallerAuth(message)).toBe(message);
  });
});
