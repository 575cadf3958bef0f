import { describe, expect, it } from 'vitest';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { discoverResult, modernError, modernResult } from '../../../src/mcp/modern/legacy-results.ts';

const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'v1', version: '1' },
};
const _meta = { 'io.modelcontextprotocol/serverInfo': initialized.serverInfo };

describe('results of older servers', () => {
  it('are complete and say from whom (C1-04, C3-04)', () => {
    expect(modernResult('tools/call', { content: [], _meta: { a: 1 } }, initialized)).toEqual({
      content: [],
      resultType: 'complete',
      _meta: { a: 1, ..._meta },
    });
  });

  it('are for no cache, unless the server says more of that (C6-07)', () => {
    const list = modernResult('prompts/list', { prompts: [], nextCursor: 'n' }, initialized);
    expect(list).toMatchObject({ ttlMs: 0, cacheScope: 'private', nextCursor: 'n' });
    expect(modernResult('prompts/list', { ttlMs: 5, cacheScope: 'public' }, initialized)).toMatchObject({
      ttlMs: 5,
      cacheScope: 'public',
    });
  });

  it('have tools without execution (C3-06)', () => {
    const tools = [{ name: 'a', execution: { taskSupport: 'optional' } }];
    expect(modernResult('tools/list', { tools }, initialized).tools).toEqual([{ name: 'a' }]);
  });

  it('of initialize are what discovery tells (C3-03)', () => {
    expect(discoverResult({ ...initialized, instructions: 'be kind' })).toEqual({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      instructions: 'be kind',
      ttlMs: 0,
      cacheScope: 'private',
      resultType: 'complete',
      _meta,
    });
  });

  it('that are errors have the codes and statuses of the revision (C8-02, B5-06)', () => {
    const read = internalRequest('resources/read', { uri: 'a:b' });
    expect(modernError({ code: -32002, message: 'no' }, read)).toEqual({
      status: 200,
      error: { code: -32602, message: 'no', data: { uri: 'a:b' } },
    });
    expect(modernError({ code: -32601, message: 'no' }, read).status).toBe(404);
    expect(modernError({ code: -32603, message: 'no' }, read).status).toBe(200);
  });
});
