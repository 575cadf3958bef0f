import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { operationOn } from '../../../src/mcp/reading/messages.ts';
import { declaredScopes, declareScopes } from '../../../src/mcp/scopes/scope-rules.ts';

const info = { name: 'a', version: '1' };
const tool = (name: string) => operationOn('tool', name);

describe.each([
  ['McpServer of SDK v2', () => new McpServer(info)],
  ['Server of SDK v2', () => new Server(info)],
  ['McpServer of SDK v1', () => new McpServerV1(info)],
])('scopes declared for a %s', (_kind, create) => {
  it('are found again, add up, and the later word counts', () => {
    const server = declareScopes(create(), { tools: { a: ['x'], b: ['x'] }, prompts: { p: ['y'] } });
    declareScopes(server, { tools: { b: ['z'] }, resources: { 'r://': ['y'] } });
    const needed = declaredScopes(server);
    expect([
      needed?.(tool('a')),
      needed?.(tool('b')),
      needed?.(tool('c')),
      needed?.(operationOn('prompt', 'p')),
      needed?.(operationOn('resource', 'r://1')),
    ]).toEqual([['x'], ['z'], undefined, ['y'], ['y']]);
  });

  it('are those of this server alone', () => {
    declareScopes(create(), { tools: { a: ['x'] } });
    expect(declaredScopes(create())).toBeUndefined();
  });

  it.each(['', 'a b', 'a"', 'a\\', 'ä', 'a\r\nX-Evil: 1', 7])(
    'refuse %j, which is no scope (T-102)',
    (scope) => {
      expect(() => declareScopes(create(), { tools: { a: [scope as string] } })).toThrow('Not a scope');
    },
  );
});

describe('what is no declaration is refused', () => {
  const declare = (declared: unknown) => () =>
    declareScopes(new McpServer(info), declared as Parameters<typeof declareScopes>[1]);

  it.each([
    [{ tool: { a: ['x'] } }, 'declareScopes: there is no tool; there are tools, prompts, resources.'],
    [{ tools: { a: 'x' } }, 'declareScopes: tools.a must be a list of scopes, as in ["tools:use"].'],
    [{ tools: ['a'] }, 'declareScopes: tools must map names to lists of scopes.'],
    [{ tools: { a: undefined } }, 'declareScopes: tools.a must be a list of scopes, as in ["tools:use"].'],
    [undefined, 'declareScopes: say { tools, prompts, resources }.'],
  ])('%j', (declared, sentence) => {
    expect(declare(declared)).toThrow(new TypeError(sentence));
  });

  it('nothing but a server can have scopes', () => {
    expect(() => declareScopes({} as McpServer, { tools: { a: ['x'] } })).toThrow(
      'declareScopes: give it the MCP server first, which has connect and close.',
    );
  });

  it('a kind may be left undefined', () => {
    expect(declare({ tools: undefined, prompts: { p: ['x'] } })).not.toThrow();
  });
});

describe('scopes declared for the Server inside an McpServer', () => {
  it('count for the McpServer; its own come first', () => {
    const server = new McpServer(info);
    declareScopes(server.server, { tools: { a: ['inner'], b: ['inner'] } });
    expect(declaredScopes(server)?.(tool('a'))).toEqual(['inner']);
    declareScopes(server, { tools: { a: ['outer'] } });
    expect(declaredScopes(server)?.(tool('a'))).toEqual(['outer']);
    expect(declaredScopes(server)?.(tool('b'))).toEqual(['inner']);
  });
});
