import { describe, expect, it } from 'vitest';
import { canonicalizeResources, createResourceRegistry } from '../../src/authorization-server/resources.ts';

const resource = 'https://mcp.example.com/mcp';
const registry = createResourceRegistry([
  { resource, name: 'Notes', scopes: { read: 'Read' }, baselineScopes: ['read'] },
]);

describe('resource parameters', () => {
  it('become canonical, and one where several mean the same (A7-02)', () => {
    const parameters = new URLSearchParams([
      ['resource', 'HTTPS://MCP.example.com/mcp/'],
      ['state', 'a'],
      ['resource', resource],
    ]);
    expect(canonicalizeResources(parameters, registry)).toBe(true);
    expect([...parameters]).toEqual([
      ['state', 'a'],
      ['resource', resource],
    ]);
  });

  it('that are unknown stay as they are, for the engine to refuse (T-023)', () => {
    const parameters = new URLSearchParams([
      ['resource', `${resource}/`],
      ['resource', 'https://evil.example'],
    ]);
    canonicalizeResources(parameters, registry);
    expect(parameters.getAll('resource')).toEqual([resource, 'https://evil.example']);
  });

  it('that are canonical change nothing', () => {
    for (const values of [[], [resource], ['https://evil.example']]) {
      const parameters = new URLSearchParams(values.map((value): [string, string] => ['resource', value]));
      expect(canonicalizeResources(parameters, registry)).toBe(false);
      expect(parameters.getAll('resource')).toEqual(values);
    }
  });
});
