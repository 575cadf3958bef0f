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
    ['notes://%73ecret/1', ['admin', 'read']],
    ['notes://%2573ecret/1', ['admin', 'read']],
    ['notes://a/../secret/1', ['read', 'admin']],
    ['notes://secret/a/../1', ['read', 'admin']],
    ['notes://secret/%2e%2e/1', ['read', 'admin']],
    ['notes://{id}', ['read']],
    ['file:///etc/passwd', undefined],
    ['no uri', undefined],
  ])(
    'for the resource %j asks %j: in each way it may be read, the longest beginning decides (T-110)',
    (uri, scopes) => {
      expect(table(operationOn('resource', uri))?.toSorted()).toEqual(scopes?.toSorted());
    },
  );

  it.each([
    ['file:///My Files/', 'file:///My%20Files/a'],
    ['file:///My Files/', 'file:///My Files/a'],
    ['https://Example.com/a', 'https://example.com/a/b'],
    ['file://localhost/a', 'file:///a'],
    ['notes://ä', 'notes://%C3%A4'],
    ['files+file:///srv/', 'files+FILE:/srv/x'],
  ])('finds the rule %j for %j, however either is written', (beginning, uri) => {
    const rules = createRuleTable({ resources: { [beginning]: ['read'] } });
    expect(rules(operationOn('resource', uri))).toEqual(['read']);
  });

  it('asks for what nothing else needs where a URI may be read as one that no rule names', () => {
    const rules = createRuleTable({ resources: { 'file:///%70ub/': [] }, otherwise: ['read'] });
    expect(rules(operationOn('resource', 'file:///%70ub/a'))).toEqual(['read']);
    expect(rules(operationOn('resource', 'file:///pub/..%2fsecret'))).toEqual(['read']);
  });

  it('without rules has none', () => {
    expect(createRuleTable({})(operationOn('resource', 'notes://1'))).toBeUndefined();
    expect(createRuleTable({})(operationOn('tool', 'move'))).toBeUndefined();
  });
});
