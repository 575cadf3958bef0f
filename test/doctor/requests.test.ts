import { expect, it } from 'vitest';
import { initializeRequest, mcpRequest, preflightRequest } from '../../src/doctor/requests.ts';

it('requests are those of MCP clients', () => {
  const request = mcpRequest('tools/call', { name: 'x' }, { authorization: 'Bearer t' });
  expect(request).toMatchObject({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer t',
    },
  });
  expect(JSON.parse(String(request.body))).toEqual({
    jsonrpc: '2.0',
    id: 'doctor',
    method: 'tools/call',
    params: { name: 'x' },
  });
  expect(JSON.parse(String(initializeRequest().body))).toMatchObject({
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', clientInfo: { name: 'gatehouse-doctor' } },
  });
});

it('a preflight says which page wants to send what', () => {
  expect(preflightRequest('POST', ['authorization', 'content-type'])).toEqual({
    method: 'OPTIONS',
    headers: {
      origin: 'http://localhost:6274',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  expect(preflightRequest('GET', []).headers).not.toHaveProperty('access-control-request-headers');
});
