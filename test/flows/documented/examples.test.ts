import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectServer, createMemoryStore, withAuthorization } from '../../../src/client/index.ts';
import { login } from '../../../src/client/node/index.ts';
import { callerOf, type OwnServer } from '../../../src/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { decide } from '../../support/person.ts';
import { repository } from '../../support/program.ts';
import { createWeather } from './asking-server.ts';
import { serve } from './embedded.ts';
import { whoAmI } from './who-am-i.ts';

/** What the entry files of the package are called where it is installed. */
const entries = [
  ['../../../src/index.ts', 'mcp-gatehouse'],
  ['../../../src/storage/sqlite/index.ts', 'mcp-gatehouse/sqlite'],
  ['../../../src/client/index.ts', 'mcp-gatehouse/client'],
  ['../../../src/client/node/index.ts', 'mcp-gatehouse/client/node'],
] as const;

async function asInstalled(file: string): Promise<string> {
  const text = await readFile(join(repository, 'test/flows/documented', file), 'utf8');
  return entries.reduce((written, [from, to]) => written.replace(`'${from}'`, `'${to}'`), text);
}

it.each([
  ['docs/own-server.md', 'asking-server.ts'],
  ['docs/embedding.md', 'embedded.ts'],
  ['docs/embedding.md', 'gate.test.ts'],
  ['docs/client-library.md', 'who-am-i.ts'],
])('%s has the example %s as it runs here', async (page, file) => {
  const text = await readFile(join(repository, page), 'utf8');
  expect(text).toContain(`\`\`\`ts\n${await asInstalled(file)}\`\`\``);
});

/** The browser of the test's person: logs in and allows. */
const allow = async (url: string): Promise<void> => {
  await fetch(await decide(url, { scopes: ['mcp'] }));
};

describe.each<[string, () => OwnServer]>([
  ['a factory', () => createWeather],
  ['one for all', () => ({ create: createWeather, sharing: 'shared' })],
  ['ready-made', createWeather],
])('a tool that asks, in a server that is %s', (_form, bring) => {
  it.each(['modern', 'legacy'] as const)('gets its answer from a client of the %s era', async (era) => {
    const gatehouse = await startGatehouse({ server: bring() });
    onTestFinished(() => gatehouse.stop());
    const context = { fetch, now: () => Math.floor(Date.now() / 1000) };
    const store = createMemoryStore();
    const url = gatehouse.mcpUrl;
    await login(context, url, { store }, { open: (page) => void allow(page) });
    const connection = await connectServer({
      url,
      fetch: withAuthorization(context, url, store),
      clientInfo: { name: 'test', version: '1' },
      client: { capabilities: { elicitation: { form: {} } } },
      known: { transport: 'http', era },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', () => ({
          action: 'accept',
          content: { city: 'Oslo' },
        })),
    });
    onTestFinished(() => connection.close());
    expect(connection.known.era).toBe(era);
    expect(await connection.client.callTool({ name: 'forecast' })).toMatchObject({
      content: [{ type: 'text', text: 'Sunny in Oslo' }],
    });
  });
});

it('an app of Koa has paths of its own, and a gatehouse behind them', async () => {
  const port = await freePort();
  const close = await serve(port, testFolder());
  const origin = `http://localhost:${port}`;
  expect(await (await fetch(`${origin}/hello`)).text()).toBe('Hello');
  expect((await fetch(`${origin}/mcp`, { method: 'POST' })).status).toBe(401);
  expect((await fetch(`${origin}/nothing`)).status).toBe(404);
  await close();
  await expect(fetch(`${origin}/hello`)).rejects.toThrow();
});

it('a program that uses the client library logs its person in and calls a tool', async () => {
  const create = () => {
    const server = new McpServer({ name: 'who', version: '1' });
    server.registerTool('whoami', {}, (context) => ({
      content: [{ type: 'text', text: callerOf(context).scopes.join() }],
    }));
    return server;
  };
  const gatehouse = await startGatehouse({ server: create });
  onTestFinished(() => gatehouse.stop());
  const answer = await whoAmI(gatehouse.mcpUrl, (page) => void allow(page));
  expect(answer).toMatchObject({ content: [{ text: 'mcp' }] });
});
