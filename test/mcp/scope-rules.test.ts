import { describe, expect, it } from 'vitest';
import { createScopeGate } from '../../src/mcp/scope-rules.ts';

const gate = createScopeGate({
  tools: { read: ['notes:read'], move: ['notes:read', 'notes:write'] },
  prompts: { summarize: ['notes:read'] },
  resources: { 'notes://': ['notes:read'], 'notes://secret/': ['admin'] },
});

const message = (method: string, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0' as const,
  id: 1,
  method,
  ...(params ? { params } : {}),
});
const call = (name: unknown) => message('tools/call', { name });

describe('the scope gate', () => {
  it('lets a call pass whose scopes are all there, in any order', () => {
    expect(gate.missing([call('move')], ['notes:write', 'x', 'notes:read'])).toBeUndefined();
  });

  it('names all scopes a refused call needs, held ones too (A8-04, T-102)', () => {
    expect(gate.missing([call('move')], ['notes:read'])).toEqual(['notes:read', 'notes:write']);
  });

  it('judges every message of a batch, and names what the refused ones need', () => {
    const batch = [call('read'), call('other'), call('move')];
    expect(gate.missing(batch, ['notes:read'])).toEqual(['notes:read', 'notes:write']);
    expect(gate.missing(batch, [])).toEqual(['notes:read', 'notes:write']);
  });

  it.each(['other', '__proto__', 'constructor', 'toString', 'READ', 'read ', undefined, {}, ['move']])(
    'leaves a name it does not know to the server: %j (T-137)',
    (name) => {
      expect(gate.missing([call(name)], [])).toBeUndefined();
    },
  );

  it.each([
    message('ping'),
    message('tools/list'),
    message('tools/call'),
    message('__proto__', { name: 'move' }),
    { jsonrpc: '2.0' as const, id: 1 },
  ])('asks nothing for $method', (free) => {
    expect(gate.missing([free], [])).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>, string[] | undefined]>([
    ['prompts/get', { name: 'summarize' }, ['notes:read']],
    ['resources/read', { uri: 'notes://1' }, ['notes:read']],
    ['resources/read', { uri: 'notes://' }, ['notes:read']],
    ['resources/read', { uri: 'notes://secret/1' }, ['admin']],
    ['resources/read', { uri: 'NOTES://1' }, ['notes:read']],
    ['resources/read', { uri: ' notes://1' }, ['notes:read']],
    ['resources/read', { uri: 'no\ttes://1' }, ['notes:read']],
    ['resources/read', { uri: 'notes://a/../secret/1' }, ['notes:read']],
    ['resources/read', { uri: 'file:///etc/passwd' }, undefined],
    ['resources/read', { uri: 'no uri' }, undefined],
    ['resources/subscribe', { uri: 'notes://1' }, ['notes:read']],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'summarize' } }, ['notes:read']],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'notes://{id}' } }, ['notes:read']],
    ['completion/complete', { ref: null }, undefined],
  ])('asks for %s %j the scopes %j', (method, params, scopes) => {
    expect(gate.missing([message(method, params)], [])).toEqual(scopes);
  });

  it('without rules asks nothing', () => {
    expect(createScopeGate({}).missing([call('move')], [])).toBeUndefined();
  });
});
