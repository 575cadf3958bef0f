import { describe, expect, it } from 'vitest';
import { initializeResult, legacyError, legacyResult } from '../../../src/gateway/modern/translated-call.ts';

const serverInfo = { name: 'n', version: '1' };
const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };

describe('answers of 2026-07-28 in the form of the older revisions', () => {
  it('have no type and do not repeat who answered (C1-04, C3-04)', () => {
    expect(legacyResult({ content: [], resultType: 'complete', _meta })).toEqual({ content: [] });
    expect(legacyResult({ content: [], _meta: { ..._meta, 'a.b/c': 1 } })).toEqual({
      content: [],
      _meta: { 'a.b/c': 1 },
    });
  });

  it('are none where the result is of a type the older revisions do not have', () => {
    expect(legacyResult({ resultType: 'task' })).toBeUndefined();
  });

  it('say with the code of before that a resource is missing (C3-06)', () => {
    const missing = { code: -32602, message: 'm', data: { uri: 'a:b' } };
    expect(legacyError(missing, { method: 'resources/read' }).code).toBe(-32002);
    expect(legacyError(missing, { method: 'tools/call' }).code).toBe(-32602);
    expect(legacyError({ code: -32602, message: 'm' }, { method: 'resources/read' }).code).toBe(-32602);
  });

  it('give initialize the revision that is asked for where it is one of them, else the newest', () => {
    const discovered = { capabilities: { tools: {} }, instructions: 'i', _meta };
    expect(initializeResult(discovered, '2025-03-26')).toEqual({
      protocolVersion: '2025-03-26',
      capabilities: { tools: {} },
      serverInfo,
      instructions: 'i',
    });
    expect(initializeResult({}, '2026-07-28')).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'unnamed', version: '0' },
    });
  });
});
