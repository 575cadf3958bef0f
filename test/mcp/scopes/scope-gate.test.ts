import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isRefusal, type Refusal } from '../../../src/mcp/http/refusal.ts';
import type { McpLike } from '../../../src/mcp/protocol.ts';
import { type Messages, readMessages } from '../../../src/mcp/reading/messages.ts';
import { createServedMethods } from '../../../src/mcp/reading/methods.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import { declareScopes, type ScopeRules } from '../../../src/mcp/scopes/scope-rules.ts';
import { parseChallenges } from '../../../src/oauth/challenge.ts';
import { authInfoWith } from '../support/auth-info.ts';

const url = 'https://a.example/.well-known/oauth-protected-resource/mcp';
const rules: ScopeRules = {
  tools: { read: ['notes:read'], move: ['notes:read', 'notes:write'] },
  prompts: { summarize: ['notes:read'] },
  resources: { 'notes://': ['notes:read'] },
};

const read = (value: unknown): Messages => {
  const messages = readMessages(value);
  if (isRefusal(messages)) throw new Error(messages.reason);
  return messages;
};
const message = (method: string, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});
const call = (name: unknown) => message('tools/call', { name });
const scopesOf = (refusal: Refusal | undefined) =>
  refusal && parseChallenges(refusal.headers?.['WWW-Authenticate'] ?? '')[0]?.parameters.scope?.split(' ');

/** What a gate says to messages: the scopes of its challenge, or undefined where they pass. */
const asked = async (value: unknown, scopes: string[], given: ScopeRules = rules, server?: McpLike) =>
  scopesOf(await createScopeGate(given, url).check(read(value), authInfoWith(...scopes), server));

describe('the scope gate', () => {
  it('lets a call pass whose scopes are all there, in any order', async () => {
    expect(await asked(call('move'), ['notes:write', 'x', 'notes:read'])).toBeUndefined();
  });

  it('names all scopes a refused call needs, held ones too (A8-04, T-102)', async () => {
    expect(await asked(call('move'), ['notes:read'])).toEqual(['notes:read', 'notes:write']);
  });

  it('judges every message of a batch, and names what the refused ones need', async () => {
    const batch = [call('read'), call('other'), call('move')];
    expect(await asked(batch, ['notes:read'])).toEqual(['notes:read', 'notes:write']);
    expect(await asked(batch, [])).toEqual(['notes:read', 'notes:write']);
    expect(await asked([call('other'), call('read')], ['notes:read'])).toBeUndefined();
  });

  it.each(['other', '__proto__', 'constructor', 'toString', 'READ', 'read '])(
    'leaves a name it does not know to the server: %j (T-137)',
    async (name) => {
      expect(await asked(call(name), [])).toBeUndefined();
    },
  );

  it.each([
    message('ping'),
    message('tools/list'),
    message('__proto__', { name: 'move' }),
    { jsonrpc: '2.0', id: 1, result: {} },
  ])('asks nothing for %j', async (free) => {
    expect(await asked(free, [])).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>]>([
    ['prompts/get', { name: 'summarize' }],
    ['resources/read', { uri: 'NOTES://1' }],
    ['resources/subscribe', { uri: 'notes://1' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'summarize' }, argument: { name: 'a', value: '' } },
    ],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: ['x://1', 'notes://1'] } }],
  ])('asks for %s %j the scope to read', async (method, params) => {
    expect(await asked(message(method, params), [])).toEqual(['notes:read']);
    expect(await asked(message(method, params), ['notes:read'])).toBeUndefined();
  });

  it('without rules asks nothing, and with a rule for the rest asks for what is not named', async () => {
    expect(await asked(call('other'), [], {})).toBeUndefined();
    expect(await asked(call('other'), [], { ...rules, otherwise: ['mcp'] })).toEqual(['mcp']);
    expect(await asked(call('read'), ['notes:read'], { ...rules, otherwise: ['mcp'] })).toBeUndefined();
    expect(await asked(message('tools/list'), [], { otherwise: ['mcp'] })).toBeUndefined();
  });

  it('asks for an opened method what it needs, or else what the rest needs (FA-02, T-201)', async () => {
    const served = createServedMethods({ 'x/run': ['x'], 'x/look': [] });
    const gate = createScopeGate({ otherwise: ['mcp'] }, url, served);
    const needed = async (method: string) =>
      scopesOf(await gate.check(read(message(method)), authInfoWith('other')));
    expect(await needed('x/run')).toEqual(['x']);
    expect(await needed('x/look')).toEqual(['mcp']);
  });
});

describe('the scope gate in front of resources', () => {
  const files: ScopeRules = {
    resources: { 'file:///pub/': [], 'file:///srv/': ['srv'], 'file:///srv/secret/': ['admin'] },
    otherwise: ['rest'],
  };
  const needed = (uri: string, given = files, server?: McpLike) =>
    asked(message('resources/read', { uri }), ['none'], given, server);

  it.each<[string, string[] | undefined]>([
    ['file:///pub/a', undefined],
    ['file:///srv/a', ['srv']],
    ['file:///srv/secret/a', ['admin']],
    ['file:///else', ['rest']],
    ['file:///pub/a%20b', undefined],
    ['file:///srv/%73ecret/a', ['srv', 'admin']],
    ['file:///srv//secret/a', ['srv', 'admin']],
    ['file:///pub/../else', ['rest']],
    ['file:///pub/..%2felse', ['rest']],
    ['file:///pub/..%2fsrv%2fsecret/a', ['admin']],
    ['file:///pub/.\t./srv/a', ['srv']],
  ])('asks for what everything needs to which %s may lead (T-110)', async (uri, scopes) => {
    expect(await needed(uri)).toEqual(scopes);
  });

  const notes: ScopeRules = {
    resources: { 'notes://pub': [], 'notes://secret/': ['admin'], 'https://pub/': [] },
    otherwise: ['rest'],
  };

  it.each<[string, string[] | undefined]>([
    ['notes://pub/1', undefined],
    ['NOTES://secret/1', ['admin']],
    [' notes://secret/1', ['admin']],
    ['no\ttes://secret/1', ['admin']],
    ['notes://pub/../secret/1', ['admin']],
    ['notes://user@secret/1', ['rest', 'admin']],
    ['notes://secret:80/1', ['rest', 'admin']],
    ['notes://pub@secret/1', ['admin']],
    ['notes://pub%40secret:80/1', ['admin']],
    ['notes://pub@else/1', ['rest']],
    ['https://pub:8443/1', ['rest']],
    ['notes://SECRET/1', ['rest', 'admin']],
    ['notes:///secret/1', ['rest', 'admin']],
    ['notes:////secret/1', ['rest', 'admin']],
    ['notes:secret/1', ['rest', 'admin']],
    ['notes:\\\\secret\\1', ['rest', 'admin']],
    ['notes://secret./1', ['rest', 'admin']],
    ['notes://secret;v=1/1', ['rest', 'admin']],
    ['notes://secret', ['rest', 'admin']],
    ['notes://pub/..;/secret/1', ['admin']],
    ['notes://pub／../secret/1', ['admin']],
  ])('asks for what %s needs however a server reads its host (FA-09, T-212, T-110)', async (uri, scopes) => {
    expect(await needed(uri, notes)).toEqual(scopes);
  });

  const refusalOf = async (value: unknown, given = files) =>
    (await createScopeGate(given, url).check(read(value), authInfoWith('srv', 'admin', 'rest')))?.reason;

  it('refuses a URI that cannot be read within the bounds, whatever scopes the caller has (FA-09, FA-04)', async () => {
    for (const uri of ['file:///%2525252570ub', `file:///pub/${'../'.repeat(1000)}`])
      expect(await refusalOf(message('resources/read', { uri }))).toBe('uri_unreadable');
  });

  it('asks for the rest where a server that declares scopes names the one way to read a URI, not the other', async () => {
    const server = new McpServer({ name: 'a', version: '1' });
    declareScopes(server, { resources: { 'file:///pub/': [], 'file:///srv/': ['srv'] } });
    const otherwise = { otherwise: ['rest'] };
    expect(await needed('file:///pub/a', otherwise, server)).toBeUndefined();
    expect(await needed('file:///pub/..%2felse', otherwise, server)).toEqual(['rest']);
    expect(await needed('file:///pub/..%2fsrv/a', otherwise, server)).toEqual(['srv']);
  });
});

describe('the scope gate in front of a server with rules of its own', () => {
  const server = new McpServer({ name: 'a', version: '1' });
  const scopeChallenge = requireScopes('own');
  server.registerTool('move', { inputSchema: z.object({}), scopeChallenge }, () => ({ content: [] }));
  server.registerTool(
    'slow',
    { inputSchema: z.object({}), scopeChallenge: async () => ({ scopes: ['late'] }) },
    () => ({
      content: [],
    }),
  );
  server.registerTool(
    'kind',
    {
      inputSchema: z.object({}),
      scopeChallenge: () => ({ scopes: ['kind'], errorDescription: 'Ask the owner.' }),
    },
    () => ({ content: [] }),
  );
  server.registerTool(
    'broken',
    {
      inputSchema: z.object({}),
      scopeChallenge: () => {
        throw new Error('broken');
      },
    },
    () => ({ content: [] }),
  );
  server.registerResource('one', 'own://1', { scopeChallenge }, () => ({ contents: [] }));
  declareScopes(server, { tools: { beside: ['declared'], read: ['declared'] } });

  it('names in one go what its rules, the server and the declaration ask for (A8-04)', async () => {
    expect(await asked(call('move'), ['notes:read'], rules, server)).toEqual([
      'notes:read',
      'notes:write',
      'own',
    ]);
    expect(await asked(call('read'), [], rules, server)).toEqual(['notes:read', 'declared']);
    expect(await asked(call('beside'), [], rules, server)).toEqual(['declared']);
    expect(await asked([call('beside'), call('slow')], [], rules, server)).toEqual(['declared', 'late']);
  });

  it('lets pass who has all of them', async () => {
    const held = ['notes:read', 'notes:write', 'own', 'declared'];
    expect(await asked([call('move'), call('read'), call('beside')], held, rules, server)).toBeUndefined();
  });

  it('closes the ways around a read the server guards: completion and subscription', async () => {
    expect(await asked(message('resources/subscribe', { uri: 'own://1' }), [], {}, server)).toEqual(['own']);
    expect(
      await asked(
        message('subscriptions/listen', { notifications: { resourceSubscriptions: ['own://1'] } }),
        [],
        {},
        server,
      ),
    ).toEqual(['own']);
  });

  it('passes the server’s own words on', async () => {
    const refusal = await createScopeGate({}, url).check(read(call('kind')), authInfoWith(), server);
    expect(refusal?.headers?.['WWW-Authenticate']).toContain('error_description="Ask the owner."');
  });

  it('lets nothing pass where a rule fails', async () => {
    await expect(asked(call('broken'), ['own'], rules, server)).rejects.toThrow('broken');
  });

  it('counts what was declared as named', async () => {
    expect(await asked(call('beside'), ['declared'], { otherwise: ['mcp'] }, server)).toBeUndefined();
  });
});

describe('the scopes a caller has by including ones (A8-05)', () => {
  const gate = createScopeGate({ ...rules, implies: { 'notes:write': ['notes:read'] } }, url);

  it('count, once they were added', async () => {
    const caller = gate.effective(authInfoWith('notes:write'));
    expect(caller.scopes).toEqual(['notes:write', 'notes:read']);
    expect(await gate.check(read(call('move')), caller)).toBeUndefined();
  });

  it('leave a caller without such a scope as they are', () => {
    const caller = authInfoWith('notes:read');
    expect(gate.effective(caller)).toBe(caller);
  });
});
