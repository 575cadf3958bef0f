import { expect, it } from 'vitest';
import {
  internalError,
  methodNotFound,
  ownData,
  ownReasonOf,
  requestCancelled,
  withLegacyCode,
} from '../../../src/mcp/sdk/json-rpc-errors.ts';

it('errors that any request may be answered with have the words of JSON-RPC 2.0, and nothing of what failed', () => {
  expect([methodNotFound, internalError]).toEqual([
    { code: -32601, message: 'Method not found' },
    { code: -32603, message: 'Internal error' },
  ]);
});

it('the reason of an error is of Gatehouse by its identity, not by its text', () => {
  const own = { code: -32000, message: 'own', data: ownData({ reason: 'backend_busy' }) };
  expect(ownReasonOf(own)).toBe('backend_busy');
  expect(ownReasonOf({ ...own, message: 'with more words' })).toBe('backend_busy');
  const foreign = JSON.parse(JSON.stringify(own)) as typeof own;
  for (const error of [foreign, { ...own, data: { ...own.data } }, { ...own, data: null }])
    expect(ownReasonOf(error)).toBeUndefined();
});

it('a cancelled request is told from one the server failed at', () => {
  expect(requestCancelled).toEqual({ code: -32800, message: 'The request was cancelled.' });
});

const asked = { method: 'resources/read', name: 'file:///x' };

it.each([
  ['TypeScript', { code: -32602, message: 'MCP error -32602: Resource file:///x not found' }],
  ['Python', { code: 0, message: 'Unknown resource: file:///x' }],
  ['Kotlin', { code: -32603, message: 'Resource not found: file:///x' }],
  ['C#', { code: -32002, message: 'Unknown resource' }],
])('An unknown resource of a server of the SDK for %s is -32002 up to 2025-11-25 (FA-33)', (_sdk, error) => {
  const { message } = error;
  const told = withLegacyCode(error, asked);
  expect(told).toMatchObject({ code: -32002, message });
  expect(withLegacyCode(error, { ...asked, method: 'resources/subscribe' }).code).toBe(-32002);
  expect(withLegacyCode(error, { method: 'tools/call', name: 'x' })).toBe(error);
});

it('An error that says nothing of an unknown resource keeps its code, and data stays (FA-33)', () => {
  for (const error of [
    { code: -32602, message: 'Invalid params' },
    { code: -32603, message: 'The file could not be found' },
    { code: -32000, message: 'Resource not found' },
  ])
    expect(withLegacyCode(error, asked)).toBe(error);
  const data = { uri: 'file:///x', hint: 'list' };
  expect(withLegacyCode({ code: -32602, message: 'Resource not found', data }, asked)).toEqual({
    code: -32002,
    message: 'Resource not found',
    data,
  });
});
