import { describe, expect, it } from 'vitest';
import { calledTool } from '../../../src/gateway/steps/called-tool.ts';
import type { Passing } from '../../../src/gateway/steps/step.ts';
import type { Found } from '../../../src/gateway/steps/tool-definitions.ts';

const passing = { era: 'modern' } as Passing;

function look(found: Found, params: Record<string, unknown> = { name: 'read' }) {
  const asked: string[] = [];
  const find = (name: string): Promise<Found> => {
    asked.push(name);
    return Promise.resolve(found);
  };
  const call = { jsonrpc: '2.0' as const, id: 1, method: 'tools/call', params };
  return { asked, called: calledTool({ find }, call, passing) };
}

describe('the tool a call is for', () => {
  it('is the one its server lists by that name', async () => {
    const tool = { name: 'read', inputSchema: {} };
    const { asked, called } = look({ tool });
    expect(await called).toEqual({ name: 'read', tool });
    expect(asked).toEqual(['read']);
  });

  it('is not there where the server does not list it, or the call has no name', async () => {
    expect(await look({ tool: undefined }).called).toEqual({
      answer: { error: { code: -32602, message: 'Tool read not found' } },
    });
    expect(await look({ tool: undefined }, { name: 5 }).called).toMatchObject({ answer: { error: {} } });
  });

  it('cannot be known without a list: who calls is told why there is none', async () => {
    const error = { code: -32603, message: 'Enter a key.', data: { reason: 'credential_missing' } };
    expect(await look({ error }).called).toEqual({ answer: { error } });
  });
});
