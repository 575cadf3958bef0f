import { describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/mcp/modern/backend.ts';
import { internalRequest } from '../../../src/mcp/modern/internal-call.ts';
import { createParameterCheck } from '../../../src/mcp/modern/parameter-check.ts';
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
  it('goes by the schema of the tool, whether it is known at once or later', async () => {
    const check = createParameterCheck();
    const atOnce = { ...untold, inputSchemaOf: () => schema };
    expect(check(atOnce, request, right)).toBeUndefined();
    expect(check(atOnce, request, wrong)).toMatchObject({ header: 'Mcp-Param-A' });
    const later = { ...untold, inputSchemaOf: async () => schema };
    expect(await check(later, request, wrong)).toMatchObject({ header: 'Mcp-Param-A' });
  });

  it('is none where there is no schema, no tool, or no call', () => {
    const check = createParameterCheck();
    expect(check(untold, request, wrong)).toBeUndefined();
    const unknown = { ...untold, inputSchemaOf: () => undefined };
    expect(check(unknown, request, wrong)).toBeUndefined();
    const known = { ...untold, inputSchemaOf: () => schema };
    expect(check(known, internalRequest('prompts/get', { name: 't' }), wrong)).toBeUndefined();
  });
});
