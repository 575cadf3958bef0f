import { describe, expect, it } from 'vitest';
import { openElicitations } from '../../../src/mcp/sdk/shared-conversation.ts';

describe('elicitations by URL', () => {
  it('begin with a request, or with an error that asks for them', () => {
    const elicitations = [{ elicitationId: 'a' }, { elicitationId: 'b' }, {}, null];
    const data = { elicitations: elicitations.filter(Boolean) };
    const params = { mode: 'url', elicitationId: 'c' };
    expect(openElicitations({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params })).toEqual(['c']);
    expect(openElicitations({ jsonrpc: '2.0', id: 1, error: { code: -32042, message: '', data } })).toEqual([
      'a',
      'b',
    ]);
    expect(openElicitations({ jsonrpc: '2.0', id: 1, error: { code: -32042, message: '' } })).toEqual([]);
    expect(openElicitations({ jsonrpc: '2.0', id: 1, result: {} })).toEqual([]);
  });
});
