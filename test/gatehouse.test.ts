import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGatehouse, type Gatehouse, type GatehouseOptions, SettingsRefused } from '../src/index.ts';
import { createLogger } from '../src/observability/logger.ts';
import { openDataFolder } from '../src/storage/sqlite/index.ts';
import { testFolder } from './client/support/folder.ts';
import { freePort } from './support/free-port.ts';

/** Creates a gatehouse over a new data folder; gives what it logged, too. */
async function create(settings: Partial<GatehouseOptions>) {
  const folder = await openDataFolder(testFolder());
  onTestFinished(() => folder.storage.close());
  const log: string[] = [];
  const logger = createLogger('warn', (line) => log.push(line));
  const gatehouse = await createGatehouse({
    publicUrl: 'https://mcp.example.com',
    logger,
    ...folder,
    ...settings,
  });
  onTestFinished(() => gatehouse.close());
  return { gatehouse, log: log.join(''), storage: folder.storage };
}

describe('createGatehouse', () => {
  it('builds every URL from the public one, without its slash', async () => {
    const { gatehouse } = await create({ publicUrl: 'https://MCP.example.com/tools/' });
    expect([gatehouse.issuer, gatehouse.mcpUrl]).toEqual([
      'https://mcp.example.com/tools',
      'https://mcp.example.com/tools/mcp',
    ]);
  });

  it('refuses settings with all problems at once', async () => {
    const refusal = await create({
      trustedProxies: ['everybody'],
      allowedOrigins: ['https://a.example/'],
    }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SettingsRefused);
    expect((refusal as SettingsRefused).problems).toHaveLength(2);
  });

  it('refuses all routes at once that cannot be served as its surroundings are', async () => {
    const backend = { command: 'x', env: ['NOT_SET_ANYWHERE'] };
    const refusal = await create({ routes: { a: { backend }, b: { backend } } }).catch((error) => error);
    expect((refusal as SettingsRefused).problems).toEqual([
      expect.stringMatching(/^routes\.a\.backend: /),
      expect.stringMatching(/^routes\.b\.backend: /),
    ]);
  });

  it('leaves neither its port for other nodes nor the data folder taken if it fails after it has joined them', async () => {
    const data = testFolder();
    const port = await freePort();
    const [failing, next] = [await openDataFolder(data), await openDataFolder(data)];
    for (const { storage } of [failing, next]) onTestFinished(() => storage.close());
    const ofNode = (): never => {
      throw new Error('no sessions');
    };
    const storage = { ...failing.storage, mcpSessions: { ...failing.storage.mcpSessions, ofNode } };
    const settings = { publicUrl: 'https://mcp.example.com', logger: createLogger('silent') };
    const create = (more: Pick<GatehouseOptions, 'storage' | 'keys'>): Promise<Gatehouse> =>
      createGatehouse({ ...settings, ...more, cluster: { port } });
    await expect(create({ ...failing, storage })).rejects.toThrow('no sessions');
    expect(await next.storage.nodes.list()).toEqual([]);
    const gatehouse = await create(next);
    onTestFinished(() => gatehouse.close());
    // On the data folder itself as well, of a server that has it alone.
    await gatehouse.close();
    await next.storage.close();
    const alone = await openDataFolder(data);
    onTestFinished(() => alone.storage.close());
    await (await createGatehouse({ ...settings, ...alone })).close();
  });

  it('needs a public URL', async () => {
    const without = { publicUrl: undefined } as unknown as Partial<GatehouseOptions>;
    await expect(create(without)).rejects.toThrow('publicUrl: is required');
  });

  it.each([
    ['https://mcp.example.com', [], true],
    ['https://mcp.example.com', ['loopback'], false],
    ['http://localhost:3000', [], false],
  ])(
    'at %s with the proxies %j warns that all clients share one limit: %s (T-061)',
    async (publicUrl, trustedProxies, warns) => {
      const { log } = await create({ publicUrl, trustedProxies });
      expect(log.includes('trustedProxies')).toBe(warns);
    },
  );

  it('warns where a server of code has scopes and leaves what nothing names open to every login', async () => {
    const make = () => new McpServer({ name: 'own', version: '1' });
    const scopes = { 'a:see': 'See.' };
    expect((await create({ server: { create: make, scopes } })).log).toContain('server.scopeRules.otherwise');
    for (const server of [make, { create: make, scopes, scopeRules: { otherwise: ['a:see'] } }, undefined])
      expect((await create({ ...(server && { server }) })).log).not.toContain('scopeRules');
  });

  it('serves a Node server with time limits for proxies, and leaves the storage to its owner when it is closed', async () => {
    const { gatehouse, storage } = await create({ publicUrl: 'http://localhost:3000' });
    const server = createServer();
    gatehouse.attach(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(server.keepAliveTimeout).toBe(75_000);
    await gatehouse.close();
    await expect(storage.ping()).resolves.toBeUndefined();
  });
});
