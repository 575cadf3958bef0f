import { PassThrough } from 'node:stream';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { callerOf } from '../../../src/mcp/sdk/caller.ts';
import { createLocalEndpoint } from '../../../src/mcp/stdio/endpoint.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { call } from '../support/served-transport.ts';
import { initialize, modern } from './connected-host.ts';

describe('a local host', () => {
  it.each([
    ['up to 2025-11-25', [initialize(), call(1, 'look')]],
    ['of 2026-07-28', [modern(1, 'tools/call', { name: 'look', arguments: {} })]],
  ])(
    'acts for its account, with all scopes, for as long as its process lives (%s)',
    async (_era, messages) => {
      const callers: AuthInfo[] = [];
      const create = (): McpServer => {
        const server = new McpServer({ name: 'test', version: '1' });
        server.registerTool('look', {}, (context) => {
          callers.push(callerOf(context));
          return { content: [] };
        });
        return server;
      };
      const [stdin, stdout] = [new PassThrough(), new PassThrough()];
      const endpoint = createLocalEndpoint({
        source: { sharing: 'shared', create },
        account: { id: 'acct_1', scopes: ['notes:read', 'notes:write'] },
        issuer: 'https://a.example',
        resource: 'https://a.example/mcp',
        stdin,
        stdout,
        logger: createLogger('silent'),
      });
      stdout.resume();
      stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
      await endpoint.ended;
      expect(callers).toEqual([
        {
          issuer: 'https://a.example',
          subject: 'acct_1',
          clientId: 'stdio',
          scopes: ['notes:read', 'notes:write'],
          audience: 'https://a.example/mcp',
          expiresAt: expect.any(Number),
        },
      ]);
      expect(new Date((callers[0]?.expiresAt ?? 0) * 1000).toISOString()).toBe('9999-12-31T23:59:59.000Z');
    },
  );
});
