import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { ServerContext } from '../../../src/mcp/protocol.ts';
import {
  fromFactory,
  fromServer,
  isServer,
  type ServerFactory,
} from '../../../src/mcp/sdk/server-factory.ts';
import { authInfoWith } from '../support/auth-info.ts';

const info = { name: 'a', version: '1' };
const context: ServerContext = { era: 'legacy', authInfo: authInfoWith('read') };

describe('an MCP server', () => {
  it.each([
    ['McpServer of SDK v2', new McpServer(info)],
    ['Server of SDK v2', new Server(info)],
    ['McpServer of SDK v1', new McpServerV1(info)],
    ['Server of SDK v1', new McpServerV1(info).server],
  ])('is known by what it can do: %s', (_kind, server) => {
    expect(isServer(server)).toBe(true);
    expect(fromServer(server).create(context)).toBe(server);
    expect(fromServer(server).sharing).toBe('single');
  });

  it.each([
    undefined,
    null,
    'server',
    {},
    { connect: 1, close: 1 },
    { connect() {} },
    () => new McpServer(info),
  ])('is not %j', (value) => {
    expect(isServer(value)).toBe(false);
  });
});

describe('a function that makes servers', () => {
  it('is told the era and who calls, and called again for the next', async () => {
    const contexts: ServerContext[] = [];
    const source = fromFactory((given) => {
      contexts.push(given);
      return new McpServer(info);
    }, 'each');
    const first = await source.create(context);
    expect(await source.create({ era: 'modern' })).not.toBe(first);
    expect(contexts).toEqual([context, { era: 'modern' }]);
  });

  it('is not told who calls where what it makes serves everybody', async () => {
    const contexts: ServerContext[] = [];
    const source = fromFactory(async (given) => {
      contexts.push(given);
      return new McpServerV1(info);
    }, 'shared');
    await source.create(context);
    expect(contexts).toEqual([{ era: 'legacy' }]);
  });

  it.each([undefined, {}, info])('that gives %j is told what to give', async (value) => {
    const source = fromFactory((() => value) as unknown as ServerFactory, 'each');
    await expect(source.create(context)).rejects.toThrow('return an McpServer');
  });

  it('may not give the same server to two callers, unless it says so (T-127)', async () => {
    const server = new McpServer(info);
    const each = fromFactory(() => server, 'each');
    await each.create(context);
    await expect(each.create(context)).rejects.toThrow("sharing: 'shared'");
    const shared = fromFactory(() => server, 'shared');
    await shared.create(context);
    expect(await shared.create(context)).toBe(server);
  });

  it('fails with its own error', async () => {
    const source = fromFactory(() => Promise.reject(new Error('no database')), 'each');
    await expect(source.create(context)).rejects.toThrow('no database');
  });
});
