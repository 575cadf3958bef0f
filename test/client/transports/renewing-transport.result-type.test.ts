import { describe, expect, it } from 'vitest';
import { completeResultType } from '../../../src/client/transports/renewing-transport.ts';

const modern = {
  jsonrpc: '2.0' as const,
  id: 1,
  method: 'tools/call',
  params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
};
const legacy = { jsonrpc: '2.0' as const, id: 1, method: 'tools/call', params: {} };
const answer = { jsonrpc: '2.0' as const, id: 1, result: { content: [] } };

describe('a result that does not say its type', () => {
  it('is complete, where the request was of 2026-07-28 (C1-04)', () => {
    expect(completeResultType(answer, modern)).toEqual({
      ...answer,
      result: { content: [], resultType: 'complete' },
    });
  });

  it('stays as it is, where the request was of an earlier revision', () => {
    expect(completeResultType(answer, legacy)).toEqual(answer);
  });

  it.each([
    { ...answer, result: { resultType: 'input_required' } },
    { jsonrpc: '2.0' as const, id: 1, error: { code: -32602, message: 'no' } },
  ])('is not what %j is, which stays as it is', (other) => {
    expect(completeResultType(other, modern)).toEqual(other);
  });
});
