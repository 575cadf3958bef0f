import { describe, expect, it } from 'vitest';
import { operationOn } from '../../../src/mcp/scopes/operations.ts';
import { createRuleTable } from '../../../src/mcp/scopes/rule-table.ts';

const table = createRuleTable({
  tools: { move: ['read', 'write'] },
  prompts: { sum: ['read'] },
  resources: { 'notes://': ['read'], 'notes://secret/': ['admin'] },
});

describe('the table of scope rules', () => {
  it('knows tools and prompts by their exact name', () => {
    expect(table(operationOn('tool', 'move'))).toEqual(['read', 'write']);
    expect(table(operationOn('prompt', 'sum'))).toEqual(['read']);
    expect(table(operationOn('prompt', 'move'))).toBeUndefined();
  });

  it.each(['other', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'MOVE', 'move ', 'move"'])(
    'has no rule for a tool named %j (T-137)',
    (name) => {
      expect(table(operationOn('tool', name))).toBeUndefined();
    },
  );

  it.each<[string, string[] | undefined]>([
    ['notes://1', ['read']],
    ['notes://', ['read']],
    ['notes://secret/1', ['admin']],
    ['notes://secret', ['read']],
    ['NOTES://1', ['read']],
    [' notes://1', ['read']],
    ['no\ttes://1', ['read']],
    ['notes://a/../secret/1', ['read']],
    ['notes://secret/a/../1', ['admin']],
    ['notes://{id}', ['read']],
    ['file:///etc/passwd', undefined],
    ['no uri', undefined],
  ])(
    'for the resource %j asks %j: the longest beginning of what a URL parser reads decides',
    (uri, scopes) => {
      expect(table(operationOn('resource', uri))).toEqual(scopes);
    },
  );

  it('without rules has none', () => {
    expect(createRuleTable({})(operationOn('resource', 'notes://1'))).toBeUndefined();
    expect(createRuleTable({})(operationOn('tool', 'move'))).toBeUndefined();
  });
});
