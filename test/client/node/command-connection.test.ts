import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withCommandConnection } from '../../../src/client/node/index.ts';
import { repository } from '../../support/program.ts';
import { testFolder } from '../support/folder.ts';

const clientInfo = { name: 'test', version: '1' };

/** A program that serves one tool over stdio, made with SDK v2, for hosts of every revision or up to 2025-11-25. */
function program(): string {
  const file = join(testFolder(), 'server.mjs');
  const sdk = (path: string): string =>
    JSON.stringify(join(repository, 'node_modules/@modelcontextprotocol', path));
  writeFileSync(
    file,
    `import { McpServer } from ${sdk('server/dist/index.mjs')};
import { serveStdio } from ${sdk('server/dist/stdio.mjs')};
serveStdio(() => {
  const server = new McpServer({ name: 'local', version: '1' });
  server.registerTool('env', {}, () => ({ content: [{ type: 'text', text: process.argv[2] + process.env.OF_TEST }] }));
  return server;
});`,
  );
  return file;
}

describe('a server that is a program', () => {
  it('is started with its arguments and its environment, and ends with the work (B1-05, B1-09)', async () => {
    const seen = await withCommandConnection(
      {
        command: [process.execPath, program(), "it's "],
        env: { PATH: process.env.PATH, OF_TEST: 'here', NOT_SET: undefined },
        clientInfo,
      },
      async (client) => [client.getProtocolEra(), (await client.callTool({ name: 'env' })).content],
    );
    expect(seen).toEqual(['modern', [{ type: 'text', text: "it's here" }]]);
  });

  it('that cannot be started is said to be none', async () => {
    const connected = withCommandConnection(
      { command: ['/no/such/program'], env: {}, clientInfo },
      async () => 1,
    );
    await expect(connected).rejects.toMatchObject({
      reason: 'unreachable',
      message: '/no/such/program cannot be started: there is no such program.',
    });
  });

  it.each([
    [['2025-11-25', '2099-01-01'], undefined],
    [['2099-01-01'], /speaks only 2099-01-01 of MCP/],
  ])(
    'that refuses 2026-07-28 and speaks %j is spoken to in what both know (C3-08)',
    async (supported, failure) => {
      const file = join(testFolder(), 'old.mjs');
      writeFileSync(
        file,
        `import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const serverInfo = { name: 'old', version: '1' };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    say({ id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo } });
  else if (id !== undefined)
    say({ id, error: { code: -32022, message: 'no', data: { supported: ${JSON.stringify(supported)} } } });
}`,
      );
      const connected = withCommandConnection(
        { command: [process.execPath, file], env: {}, clientInfo },
        async (client) => client.getServerVersion()?.name,
      );
      if (failure) await expect(connected).rejects.toThrow(failure);
      else expect(await connected).toBe('old');
    },
  );

  it('is read if it writes arrays: an answer alone, with progress, and with a request of its own (FA-30, B1-04)', async () => {
    const file = join(testFolder(), 'batches.mjs');
    writeFileSync(
      file,
      `import { createInterface } from 'node:readline';
const serverInfo = { name: 'batches', version: '1' };
const say = (...messages) => console.log(JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message }))));
let waiting;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize')
    say({ id, result: { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo } });
  else if (method === 'tools/call') {
    waiting = id;
    const { progressToken } = params._meta;
    say({ method: 'notifications/progress', params: { progressToken, progress: 1 } }, { id: 'of-server', method: 'ping' });
  } else if (id === 'of-server' && result)
    say({ id: waiting, result: { content: [{ type: 'text', text: 'pinged' }] } });
  else if (id !== undefined) say({ id, error: { code: -32601, message: 'Method not found' } });
}`,
    );
    const progress: number[] = [];
    const content = await withCommandConnection(
      { command: [process.execPath, file], env: {}, clientInfo },
      async (client) => {
        const onprogress = (told: { progress: number }) => void progress.push(told.progress);
        return (await client.callTool({ name: 'any' }, { onprogress })).content;
      },
    );
    expect([content, progress]).toEqual([[{ type: 'text', text: 'pinged' }], [1]]);
  });

  it('that ends at a request before initialize is started again for older revisions (C3-08)', async () => {
    const file = join(testFolder(), 'strict.mjs');
    writeFileSync(
      file,
      `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === 'server/discover') process.exit(1);
  const serverInfo = { name: 'strict', version: '1' };
  if (method === 'initialize')
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo } }));
}`,
    );
    const name = await withCommandConnection(
      { command: [process.execPath, file], env: {}, clientInfo },
      async (client) => client.getServerVersion()?.name,
    );
    expect(name).toBe('strict');
  });
});
