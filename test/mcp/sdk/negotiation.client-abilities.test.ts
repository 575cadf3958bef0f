import { describe, expect, it } from 'vitest';
import { checkAbility, readAbilities } from '../../../src/mcp/sdk/negotiation.ts';

describe('what a client can be asked', () => {
  it.each<[string, Record<string, unknown>, string, Record<string, unknown>, boolean]>([
    ['sampling', { sampling: {} }, 'sampling/createMessage', {}, true],
    ['sampling undeclared', {}, 'sampling/createMessage', {}, false],
    ['tools in sampling', { sampling: { tools: {} } }, 'sampling/createMessage', { tools: [] }, true],
    ['tools undeclared', { sampling: {} }, 'sampling/createMessage', { toolChoice: {} }, false],
    ['forms by an empty capability', { elicitation: {} }, 'elicitation/create', {}, true],
    ['forms where only visits are declared', { elicitation: { url: {} } }, 'elicitation/create', {}, false],
    ['visits', { elicitation: { url: {} } }, 'elicitation/create', { mode: 'url' }, true],
    ['visits undeclared', { elicitation: { form: {} } }, 'elicitation/create', { mode: 'url' }, false],
    ['roots undeclared', { roots: undefined }, 'roots/list', {}, false],
    ['a list, which declares nothing', { sampling: [] }, 'sampling/createMessage', {}, false],
    ['ping', {}, 'ping', {}, true],
  ])('is told by its capabilities: %s', (_what, capabilities, method, params, allowed) => {
    const refusal = checkAbility(readAbilities(capabilities), { jsonrpc: '2.0', id: 1, method, params });
    expect(refusal?.code).toBe(allowed ? undefined : -32601);
  });
});
