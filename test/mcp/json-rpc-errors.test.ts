import { expect, it } from 'vitest';
import { internalError, methodNotFound, requestCancelled } from '../../src/mcp/json-rpc-errors.ts';

it('errors that any request may be answered with have the words of JSON-RPC 2.0, and nothing of what failed', () => {
  expect([methodNotFound, internalError]).toEqual([
    { code: -32601, message: 'Method not found' },
    { code: -32603, message: 'Internal error' },
  ]);
});

it('a cancelled request is told from one the server failed at', () => {
  expect(requestCancelled).toEqual({ code: -32800, message: 'The request was cancelled.' });
});
