import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolList } from '../../../src/mcp/modern/internal-call.ts';
import { createScopeGate } from '../../../src/mcp/scopes/scope-gate.ts';
import type { ScopeRules } from '../../../src/mcp/scopes/scope-rules.ts';
import { createScopeTools, type ScopeToolsOptions } from '../../../src/mcp/scopes/scope-tools.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { authInfoWith } from '../support/auth-info.ts';

const rules: ScopeRules = {
  tools: { search: ['notes:read'], add: ['notes:write'], move: ['notes:read', 'notes:write'] },
};

function listOf(...names: unknown[]): ToolList {
  return { tools: names.map((name) => ({ name })), isWhole: true };
}

function toolsOf(list: ScopeToolsOptions['list'], options: Partial<ScopeToolsOptions> = {}, given = rules) {
  return createScopeTools({
    list,
    gate: createScopeGate(given, 'https://a.example/.well-known/oauth-protected-resource/mcp'),
    isPersonal: true,
    patienceMs: 1000,
    keptMs: 1000,
    nowMs: () => 0,
    ...options,
  });
}

describe('the tools that scopes open', () => {
  it('stand under each scope they need, and by themselves where they need none', async () => {
    const tell = toolsOf(async () => listOf('search', 'add', 'move', 'whoami', 7));
    expect(await tell(authInfoWith('notes:read', 'notes:write'))).toEqual({
      byScope: { 'notes:read': ['search', 'move'], 'notes:write': ['add', 'move'] },
      free: ['whoami'],
    });
  });

  it('stand under a scope that includes the one they need', async () => {
    const tell = toolsOf(async () => listOf('search'), {}, { ...rules, implies: { all: ['notes:read'] } });
    expect((await tell(authInfoWith('all')))?.byScope).toEqual({ all: ['search'] });
  });

  it('count what the server says beside its tools, and what it makes of everybody else', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    const answer = () => ({ content: [] });
    const inputSchema = z.object({});
    server.registerTool('add', { inputSchema, scopeChallenge: requireScopes('admin') }, answer);
    server.registerTool('other', { inputSchema, scopeChallenge: requireScopes('admin') }, answer);
    const tell = toolsOf(async () => ({ ...listOf('add', 'other'), by: server }));
    expect(await tell(authInfoWith('admin', 'notes:write'))).toEqual({
      byScope: { admin: ['add', 'other'], 'notes:write': ['add'] },
      free: [],
    });
  });

  it('are those of the last list while the server does not answer, for each account its own (FA-60)', async () => {
    let answer: () => Promise<ToolList> = async () => listOf('search');
    let now = 0;
    const tell = toolsOf(() => answer(), { patienceMs: 20, nowMs: () => now });
    const [ann, bob] = ['ann', 'bob'].map((subject) => ({ ...authInfoWith('notes:read'), subject }));
    const first = await tell(ann as AuthInfo);
    expect(first?.byScope).toEqual({ 'notes:read': ['search'] });
    for (const failing of [() => new Promise<never>(() => {}), () => Promise.reject(new Error('down'))]) {
      now += 10_000;
      answer = failing;
      expect(await tell(ann as AuthInfo)).toEqual(first);
      expect(await tell(bob as AuthInfo)).toBeUndefined();
    }
  });

  it('are read as the account sees them, with the scopes that are asked for and those they include', async () => {
    const seen: AuthInfo[] = [];
    const list = async (caller: AuthInfo) => {
      seen.push(caller);
      return listOf(`${caller.subject}_tool`);
    };
    const tell = toolsOf(list, {}, { implies: { all: ['notes:read'] } });
    expect((await tell({ ...authInfoWith('all'), subject: 'ada' }))?.free).toEqual(['ada_tool']);
    expect((await tell({ ...authInfoWith('all'), subject: 'bob' }))?.free).toEqual(['bob_tool']);
    expect(seen.map(({ scopes }) => scopes)).toEqual([
      ['all', 'notes:read'],
      ['all', 'notes:read'],
    ]);
  });

  it('are read once for a while, for everybody where they are the same for everybody', async () => {
    let reads = 0;
    let clock = 0;
    const list = async () => listOf(`read_${++reads}`);
    const tell = toolsOf(list, { isPersonal: false, nowMs: () => clock });
    const ask = async (subject: string) => (await tell({ ...authInfoWith('a'), subject }))?.free;
    expect(await Promise.all([ask('ada'), ask('bob')])).toEqual([['read_1'], ['read_1']]);
    clock = 999;
    expect(await ask('ada')).toEqual(['read_1']);
    clock = 1000;
    expect(await ask('ada')).toEqual(['read_2']);
  });

  it('are not known where the server fails or tells only a part, and are asked for again', async () => {
    const answers = [
      () => Promise.reject(new Error('no server')),
      async () => ({ ...listOf('add'), isWhole: false }),
      async () => listOf('whoami'),
    ];
    const tell = toolsOf(() => answers.shift()?.() ?? Promise.reject(new Error('asked once too often')));
    const ask = () => tell(authInfoWith('notes:write'));
    expect([await ask(), await ask()]).toEqual([undefined, undefined]);
    expect((await ask())?.free).toEqual(['whoami']);
  });

  it('are not waited for longer than said; what came late is there for the next', async () => {
    const { promise, resolve } = Promise.withResolvers<ToolList>();
    const tell = toolsOf(() => promise, { patienceMs: 20 });
    expect(await tell(authInfoWith('a'))).toBeUndefined();
    resolve(listOf('late'));
    expect((await tell(authInfoWith('a')))?.free).toEqual(['late']);
  });
});
