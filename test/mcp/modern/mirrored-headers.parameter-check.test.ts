import { describe, expect, it } from 'vitest';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { createParameterCheck } from '../../../src/mcp/modern/mirrored-headers.ts';
import type { Backend } from '../../../src/mcp/protocol.ts';
import { createCaller } from '../support/modern-calls.ts';

const schema = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } };
const request = internalRequest('tools/call', { name: 't', arguments: { a: 'x' } });
const right = createCaller('ann', { 'mcp-param-a': 'x' });
const wrong = createCaller('ann', { 'mcp-param-a': 'y' });

/** Tells no schemas. */
const untold: Backend = {
  checksEnvelope: 'nothing',
  begin: () => () => {},
  notify() {},
  discover: async () => ({ capabilities: {}, serverInfo: undefined }),
  close: async () => {},
};

describe('the check of mirrored parameters (B5-10)', () => {
  it('goes by the schema of the tool', async () => {
    const check = createParameterCheck();
    const known = { ...untold, inputSchemaOf: async () => schema };
    expect(await check(known, request, right)).toBeUndefined();
    expect(await check(known, request, wrong)).toMatchObject({ header: 'Mcp-Param-A' });
  });

  it('is none where there is no schema, no tool, or no call', async () => {
    const check = createParameterCheck();
    expect(await check(untold, request, wrong)).toBeUndefined();
    const unknown = { ...untold, inputSchemaOf: async () => undefined };
    expect(await check(unknown, request, wrong)).toBeUndefined();
    const known = { ...untold, inputSchemaOf: async () => schema };
    expect(await check(known, internalRequest('prompts/get', { name: 't' }), wrong)).toBeUndefined();
  });
});
