import { describe, expect, it } from 'vitest';
import { operationOn } from '../../../src/mcp/reading/messages.ts';
import { createRuleTable } from '../../../src/mcp/scopes/scope-rules.ts';

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
    ['notes://{id}', ['read']],
    ['file:///etc/passwd', undefined],
    ['no uri', undefined],
  ])('for the resource %j asks %j: the longest beginning decides', (uri, scopes) => {
    expect(table(operationOn('resource', uri))).toEqual(scopes);
  });

  it.each([
    ['file:///My Files/', 'file:///My%20Files/a'],
    ['file:///My%20Files/', 'file:///My%20Files/a'],
    ['https://Example.com/a', 'https://example.com/a/b'],
    ['file://localhost/a', 'file:///a'],
    ['notes://ä', 'notes://%C3%A4'],
    ['files+FILE:/srv/', 'files+file:///srv/x'],
  ])('finds the rule %j for %j, however the rule is written', (beginning, uri) => {
    const rules = createRuleTable({ resources: { [beginning]: ['read'] } });
    expect(rules(operationOn('resource', uri))).toEqual(['read']);
  });

  it('takes a rule for no wider than it is written, and two that are the same as URLs together', () => {
    const rules = createRuleTable({
      resources: {
        'file:///srv/.': ['admin'],
        'file:///My ': ['my'],
        'FILE:///srv/': ['a'],
        'file:///srv/': ['b'],
      },
    });
    expect(rules(operationOn('resource', 'file:///srv/x'))).toEqual(['a', 'b']);
    expect(rules(operationOn('resource', 'file:///srv/.x'))).toEqual(['admin']);
    expect(rules(operationOn('resource', 'file:///Mystery'))).toBeUndefined();
  });

  it('finds the longest of 10,000 beginnings that lie within one another', () => {
    const resources = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`notes://${'a/'.repeat(at % 50)}${at}/`, [`s${at}`]]),
    );
    const rules = createRuleTable({
      resources: { ...resources, 'notes://': ['all'], 'notes://a/a/': ['deep'] },
    });
    expect(rules(operationOn('resource', 'notes://a/a/2552x'))).toEqual(['deep']);
    expect(rules(operationOn('resource', 'notes://a/a/a/a/a/9905/x'))).toEqual(['s9905']);
    expect(rules(operationOn('resource', 'notes://zzz'))).toEqual(['all']);
    expect(rules(operationOn('resource', 'note://zzz'))).toBeUndefined();
  });

  it('without rules has none', () => {
    expect(createRuleTable({})(operationOn('resource', 'notes://1'))).toBeUndefined();
    expect(createRuleTable({})(operationOn('tool', 'move'))).toBeUndefined();
  });
});
