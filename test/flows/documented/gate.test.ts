import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import request from 'supertest';
import { expect, test } from 'vitest';
import {
  connectServer,
  createMemoryStore,
  loginWithClientCredentials,
  withAuthorization,
} from '../../../src/client/index.ts';
import { createAdministration, createGatehouse } from '../../../src/index.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';

const createWeather = () => {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  const sunny = { content: [{ type: 'text' as const, text: 'Sunny' }] };
  server.registerTool('forecast', {}, () => sunny);
  server.registerTool('report', {}, () => sunny);
  return server;
};

test('a forecast needs weather:read, a report more', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = await openDataFolder(await mkdtemp(join(tmpdir(), 'weather-')));
  const gatehouse = await createGatehouse({
    publicUrl: `http://127.0.0.1:${port}`, // with its port: tokens are for this URL
    ...folder,
    log: { level: 'warn' },
    clients: { clientCredentials: true }, // logins of programs, without a person
    server: {
      create: createWeather,
      scopes: { 'weather:read': 'See the weather.', 'weather:report': 'Report it.' },
      scopeRules: { tools: { forecast: ['weather:read'], report: ['weather:report'] } },
    },
  });
  gatehouse.attach(server);

  await request(gatehouse.issuer).post('/mcp').send({}).expect(401);

  const client = await createAdministration(folder).clients.add({
    name: 'test',
    authMethod: 'client_secret_basic',
    grantTypes: ['client_credentials'],
    scopes: ['weather:read'],
  });
  const context = { fetch, now: () => Math.floor(Date.now() / 1000) };
  const store = createMemoryStore();
  const url = gatehouse.mcpUrl;
  await loginWithClientCredentials(context, url, { store, client, scopes: ['weather:read'] });
  const clientInfo = { name: 'test', version: '1.0.0' };
  const connection = await connectServer({ url, fetch: withAuthorization(context, url, store), clientInfo });
  const call = (name: string) => connection.client.callTool({ name });
  expect(await call('forecast')).toMatchObject({ content: [{ text: 'Sunny' }] });
  await expect(call('report')).rejects.toThrow('weather:report');

  await connection.close();
  server.close();
  await gatehouse.close();
  await folder.storage.close();
});
