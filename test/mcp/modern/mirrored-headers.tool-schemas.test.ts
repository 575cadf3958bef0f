import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createListedSchemas } from '../../../src/mcp/modern/mirrored-headers.ts';
import { connectSharedServer } from '../../../src/mcp/modern/shared-server.ts';
import type { Answer } from '../../../src/mcp/protocol.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { createCaller } from '../support/modern-calls.ts';
import { createTestServer, modernVersions } from '../support/modern-endpoint.ts';
import { addTools } from '../support/modern-tools.ts';

const rest = { publish: () => {}, onEnd: () => {}, logger: createLogger('silent') };

describe('the schemas of tools', () => {
  it('are told by an McpServer, the same object each time', async () => {
    const server = createTestServer((made) => addTools(made, { started: [], aborted: [], finished: [] }));
    const backend = await connectSharedServer({ server, ...rest });
    const find = (name: string) => backend?.inputSchemaOf?.(name, createCaller());
    expect(await find('region')).toMatchObject({ properties: { region: { 'x-mcp-header': 'Region' } } });
    expect(await find('region')).toBe(await find('region'));
    expect(await find('nobody')).toBeUndefined();
  });

  it('are read from all pages of the list of another server, and again when it changed', async () => {
    let version = 1;
    let reads = 0;
    const server = new Server(
      { name: 'low', version: '1' },
      { ...modernVersions, capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler('tools/list', ({ params }) => {
      reads++;
      const name = params?.cursor === 'next' ? 'b' : 'a';
      const tools = [{ name, inputSchema: { type: 'object' as const, title: `${name}${version}` } }];
      return { tools, ...(name === 'a' ? { nextCursor: 'next' } : {}) };
    });
    const backend = await connectSharedServer({ server, ...rest });
    const find = async (name: string) => backend?.inputSchemaOf?.(name, createCaller());
    expect(await find('b')).toMatchObject({ title: 'b1' });
    expect(await find('a')).toMatchObject({ title: 'a1' });
    expect(await find('__proto__')).toBeUndefined();
    expect(reads).toBe(2);
    version = 2;
    await server.sendToolListChanged();
    expect(await find('b')).toMatchObject({ title: 'b2' });
  });

  it.each<[string, Answer, number]>([
    ['failed', { status: 500, error: { code: -32603, message: 'no database' } }, 2],
    ['is none, for a server without tools', { status: 404, error: { code: -32601, message: 'none' } }, 1],
  ])('of a list that %s are read again where they may come (B5-10, T-132)', async (_what, first, reads) => {
    let asked = 0;
    const { find } = createListedSchemas(({ answer }) => {
      const tools = [{ name: 'a', inputSchema: { title: 'a' } }];
      answer(++asked === 1 ? first : { status: 200, result: { tools } });
      return () => {};
    });
    expect(await find('a', createCaller())).toBeUndefined();
    expect(await find('a', createCaller())).toEqual(reads === 2 ? { title: 'a' } : undefined);
    await find('a', createCaller());
    expect(asked).toBe(reads);
  });
});
