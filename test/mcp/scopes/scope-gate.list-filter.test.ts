import { McpServer, requireScopes, type ScopeChallengeHandler } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import { declareScopes } from '../../../src/mcp/scopes/scope-rules.ts';
import { authInfoWith } from '../support/auth-info.ts';

const rules = {
  tools: { add: ['write'], find: ['read'] },
  prompts: { sum: ['read'] },
  resources: { 'notes://': ['read'] },
};
const url = 'https://a.example/.well-known/oauth-protected-resource/mcp';
const granted = createScopeGate({ ...rules, lists: 'granted' }, url).filterResult;
const named = (...names: string[]) => names.map((name) => ({ name, title: `The ${name}` }));

describe('lists', () => {
  it('show everything unless the rules say otherwise', () => {
    const result = { tools: named('add', 'find') };
    expect(createScopeGate(rules, url).filterResult('tools/list', result, authInfoWith())).toBe(result);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['tools/list', { tools: named('add', 'find', 'free') }, { tools: named('find', 'free') }],
    ['prompts/list', { prompts: named('sum', 'free') }, { prompts: named('sum', 'free') }],
    ['resources/list', { resources: [{ uri: 'notes://1' }] }, { resources: [{ uri: 'notes://1' }] }],
  ])('of %s show whom has read what read suffices for', (method, result, shown) => {
    expect(granted(method, result, authInfoWith('read'))).toEqual(shown);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['tools/list', { tools: named('add', 'find') }, { tools: [] }],
    ['prompts/list', { prompts: named('sum', '__proto__') }, { prompts: named('__proto__') }],
    [
      'resources/list',
      { resources: [{ uri: 'NOTES://1' }, { uri: 'x://1' }] },
      { resources: [{ uri: 'x://1' }] },
    ],
    [
      'resources/templates/list',
      { resourceTemplates: [{ uriTemplate: 'notes://{id}' }] },
      { resourceTemplates: [] },
    ],
  ])('of %s hide from whom has no scope what needs one', (method, result, shown) => {
    expect(granted(method, result, authInfoWith())).toEqual(shown);
  });

  it.each<[string, string, unknown]>([
    ['tools/list', 'tools', null],
    ['tools/list', 'tools', 'add'],
    ['tools/list', 'tools', {}],
    ['tools/list', 'tools', { name: ['find'] }],
    ['tools/list', 'tools', { name: { toString: 'find', valueOf: 'find' } }],
    ['resources/list', 'resources', { uri: { toString: 1 } }],
    ['resources/templates/list', 'resourceTemplates', { uriTemplate: ['x://'] }],
  ])('of %s hide an entry whose name cannot be read, %s %j (FA-01, T-200)', (method, member, entry) => {
    expect(granted(method, { [member]: [entry] }, authInfoWith('read', 'write'))).toEqual({ [member]: [] });
  });

  it('keep their cursor and all else, but are for public caches no longer', () => {
    const result = {
      tools: named('add'),
      nextCursor: 'page2',
      ttlMs: 60_000,
      cacheScope: 'public',
      _meta: { a: 1 },
    };
    expect(granted('tools/list', result, authInfoWith())).toEqual({
      ...result,
      tools: [],
      cacheScope: 'private',
    });
    expect(result.tools).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>]>([
    ['tools/call', { tools: named('add') }],
    ['tools/list', { tools: 'none' }],
    ['__proto__', { tools: named('add') }],
  ])('are left alone where there is none: %s', (method, result) => {
    expect(granted(method, result, authInfoWith())).toBe(result);
  });
});

describe('lists of a server with rules of its own', () => {
  const serverWith = (scopeChallenge: ScopeChallengeHandler) => {
    const server = new McpServer({ name: 'a', version: '1' });
    server.registerTool('own', { inputSchema: z.object({}), scopeChallenge }, () => ({ content: [] }));
    return server;
  };
  const shown = (server: McpServer, ...scopes: string[]) =>
    granted('tools/list', { tools: named('own', 'free') }, authInfoWith(...scopes), server).tools;

  it('hide what the server itself would refuse', () => {
    expect(shown(serverWith(requireScopes('write')))).toEqual(named('free'));
    expect(shown(serverWith(requireScopes('write')), 'write')).toEqual(named('own', 'free'));
  });

  it('hide what was declared beside the tool', () => {
    const server = declareScopes(new McpServer({ name: 'a', version: '1' }), { tools: { own: ['write'] } });
    expect(shown(server)).toEqual(named('free'));
    expect(shown(server, 'write')).toEqual(named('own', 'free'));
  });

  it('show what a rule has yet to decide, and hide what it fails on', () => {
    expect(shown(serverWith(() => Promise.reject(new Error('late'))))).toEqual(named('own', 'free'));
    const failing = serverWith(() => {
      throw new Error('broken');
    });
    expect(shown(failing)).toEqual(named('free'));
  });
});
