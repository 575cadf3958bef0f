import { expect, test } from 'vitest';
import { readInitialize } from '../../../src/mcp/reading/messages.ts';

const whole = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'n', version: '1' } };
const request = (params?: Record<string, unknown>) =>
  ({ jsonrpc: '2.0', id: 1, method: 'initialize', ...(params ? { params } : {}) }) as const;

test('params that are whole are given back as they came (C2-01)', () => {
  expect(readInitialize(request({ ...whole, more: 1 }))).toEqual({ ...whole, more: 1 });
});

test.each([
  [undefined],
  [{}],
  [{ ...whole, protocolVersion: 1 }],
  [{ ...whole, capabilities: [] }],
  [{ ...whole, capabilities: null }],
  [{ ...whole, clientInfo: { name: 'n' } }],
  [{ ...whole, clientInfo: 'n' }],
])('params that lack something are none: %j', (params) => {
  expect(readInitialize(request(params as Record<string, unknown> | undefined))).toBeUndefined();
});
