import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, requireScopes, type ScopeChallengeHandler } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operationOn } from '../../../src/mcp/reading/messages.ts';
import { findScopeChallenge, hasScopeRules } from '../../../src/mcp/scopes/scope-gate.ts';

const caller = (...scopes: string[]) => ({ token: '', clientId: 'c', scopes });
const callOf = (name: string) => operationOn('tool', name).request;

/** A server of SDK v2 with one tool that has a rule. */
function serverWith(scopeChallenge: ScopeChallengeHandler): McpServer {
  const server = new McpServer({ name: 'a', version: '1' });
  server.registerTool('add', { inputSchema: z.object({}), scopeChallenge }, () => ({ content: [] }));
  return server;
}

describe('the rules a server of SDK v2 has beside its tools', () => {
  const server = serverWith(requireScopes('read', 'write'));

  it('challenge a caller who lacks one of the scopes, with all of them (A8-04)', async () => {
    expect(await findScopeChallenge(server, callOf('add'), caller('read'))).toEqual({
      scopes: ['read', 'write'],
    });
  });

  it('let pass who has them, and what has no rule', async () => {
    expect(await findScopeChallenge(server, callOf('add'), caller('write', 'read'))).toBeUndefined();
    for (const name of ['other', '__proto__', 'constructor'])
      expect(await findScopeChallenge(server, callOf(name), caller())).toBeUndefined();
  });

  it('may take their time', async () => {
    const slow = serverWith(async () => ({ scopes: ['slow'] }));
    await expect(findScopeChallenge(slow, callOf('add'), caller())).resolves.toEqual({ scopes: ['slow'] });
  });

  it.each([[[]], [['a b']], [['a"']], [['a\r\nX-Evil: 1']], ['read'], [[7]], [undefined]])(
    'fail where they ask for %j, which are no scopes (T-102)',
    async (scopes) => {
      const challenge = { scopes } as never;
      for (const rule of [() => challenge, async () => challenge])
        await expect(findScopeChallenge(serverWith(rule), callOf('add'), caller())).rejects.toThrow(
          TypeError,
        );
    },
  );
});

describe('a server without such rules', () => {
  it.each([
    ['McpServer of SDK v1', new McpServerV1({ name: 'a', version: '1' })],
    ['Server inside', new McpServer({ name: 'a', version: '1' }).server],
  ])('challenges nobody: %s', async (_kind, server) => {
    expect(hasScopeRules(server)).toBe(false);
    expect(await findScopeChallenge(server, callOf('add'), caller())).toBeUndefined();
  });
});
