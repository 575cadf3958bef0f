import { describe, expect, it } from 'vitest';
import type { Conversations } from '../../../src/mcp/protocol.ts';
import { createServedMethods } from '../../../src/mcp/reading/methods.ts';
import { createExtensions, declaringExtensions } from '../../../src/mcp/sdk/conversation-filters.ts';

describe('extensions in front of a server', () => {
  it('stand beside what the server can do, and what it says of one itself stays (A13-01)', () => {
    const declare = createExtensions(['a.example/one', 'a.example/two'], createServedMethods());
    expect(
      declare({ ttlMs: 0, capabilities: { tools: {}, extensions: { 'a.example/two': { x: 1 } } } }),
    ).toEqual({
      ttlMs: 0,
      capabilities: { tools: {}, extensions: { 'a.example/one': {}, 'a.example/two': { x: 1 } } },
    });
    expect(declare({})).toEqual({
      capabilities: { extensions: { 'a.example/one': {}, 'a.example/two': {} } },
    });
  });

  it('change nothing where there are none (A13-11)', () => {
    const result = { capabilities: {} };
    expect(createExtensions([], createServedMethods())(result)).toBe(result);
  });

  it('that are not served are not announced, whatever the server says (FA-13, T-202)', () => {
    const declare = createExtensions(['a.example/one'], createServedMethods());
    const extensions = { 'io.modelcontextprotocol/skills': {}, 'io.modelcontextprotocol/ui': {} };
    expect(declare({ capabilities: { tools: {}, tasks: { list: {} }, extensions } })).toEqual({
      capabilities: { tools: {}, extensions: { 'a.example/one': {}, 'io.modelcontextprotocol/ui': {} } },
    });
  });

  it('leave the refusal of a server as it is', async () => {
    const refusal = { error: { code: -32602, message: 'no' } };
    const conversations: Conversations = { open: async () => refusal, close: async () => undefined };
    const open = declaringExtensions(
      conversations,
      createExtensions(['a.example/one'], createServedMethods()),
    ).open;
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'n', version: '1' },
    };
    expect(await open(initialize, {}, { hear: () => undefined, ended: () => undefined })).toBe(refusal);
  });
});
