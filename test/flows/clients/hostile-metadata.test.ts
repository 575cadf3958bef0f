import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import {
  serverMetadata,
  startAuthorizationServer,
  startMcpServer,
} from '../../client/support/protected-server.ts';
import { startServer } from '../../client/support/scripted-server.ts';
import { createVictim } from './support/victim.ts';

const metadataOnly = ['GET /.well-known/oauth-authorization-server'];

describe('gatehouse login opens and sends nothing', () => {
  it.each(['javascript:alert(1)', 'https://x/"&calc&"'])(
    'where the page to open is %s (T-182)',
    async (place) => {
      const as = await startAuthorizationServer({ authorization_endpoint: place });
      const mcp = await startMcpServer(as);
      const victim = await createVictim();
      const { code, stderr } = await victim.run('login', mcp.url);
      expect(code, stderr).toBe(exitCodes.unreachable);
      expect(stderr).toMatch(/authorization_endpoint .* is refused/);
      expect(victim.openedUrl()).toBeUndefined();
      expect(as.asked()).toEqual(metadataOnly);
    },
  );

  it.each([['a path', (issuer: string) => `${issuer}/other`]])(
    'where the issuer differs in %s (T-183)',
    async (_, change) => {
      const as = await startAuthorizationServer();
      const [place = ''] = metadataOnly;
      as.routes[place] = { json: serverMetadata(as.origin, { issuer: change(as.origin) }) };
      const mcp = await startMcpServer(as);
      const victim = await createVictim();
      const { code, stderr } = await victim.run('login', mcp.url);
      expect(code, stderr).toBe(exitCodes.unreachable);
      expect(stderr).toMatch(/names another issuer: .* differ at character/);
      expect(victim.openedUrl()).toBeUndefined();
      expect(as.asked()).toEqual(metadataOnly);
    },
  );

  it('where codes and secrets would go to another origin (T-183)', async () => {
    const thief = await startServer();
    const as = await startAuthorizationServer({ token_endpoint: `${thief.origin}/token` });
    const mcp = await startMcpServer(as);
    const victim = await createVictim();
    const { code, stderr } = await victim.run('login', mcp.url);
    expect(code, stderr).toBe(exitCodes.unreachable);
    expect(stderr).toContain('--allow-origin');
    expect(as.asked()).toEqual(metadataOnly);
    expect(thief.requests).toEqual([]);
  });

  it.each([
    ['in the local network', () => 'http://169.254.169.254/latest/meta-data', /is not fetched/],
    ['of 10 MB', (origin: string) => `${origin}/large`, /more than 256 KiB/],
  ])('where the metadata of the resource is said to be %s (T-185)', async (_, place, said) => {
    const server = await startServer({ 'GET /large': { text: ' '.repeat(10_000_000) } });
    server.routes['POST /mcp'] = {
      status: 401,
      headers: { 'www-authenticate': `Bearer resource_metadata="${place(server.origin)}"` },
      text: '',
    };
    const victim = await createVictim();
    const { code, stderr } = await victim.run('login', `${server.origin}/mcp`);
    expect(code, stderr).toBe(exitCodes.unreachable);
    expect(stderr).toMatch(said);
    expect(victim.openedUrl()).toBeUndefined();
  });
});

it('a server that names another authorization server later gets nothing of the first login to it (T-184)', async () => {
  const [first, second] = [await startAuthorizationServer(), await startAuthorizationServer()];
  const mcp = await startMcpServer(first);
  const victim = await createVictim();
  await victim.login(mcp.url);
  const before = [...first.accessTokens, ...first.refreshTokens];
  const registered = new URL((await victim.startLogin(mcp.url)).url).searchParams.get('client_id');
  mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
    json: { resource: mcp.url, authorization_servers: [second.origin] },
  };

  first.accessTokens.clear();
  first.refreshTokens.clear();
  const refused = await victim.run('tools', mcp.url);
  expect(refused.code, refused.stderr).toBe(exitCodes.loginNeeded);
  expect(second.requests).toEqual([]);

  const { code, stderr } = await victim.login(mcp.url);
  expect(code, stderr).toBe(exitCodes.ok);
  expect(second.asked()).toContain('POST /register');
  const told = JSON.stringify(second.requests);
  expect([...before, String(registered)].filter((secret) => told.includes(secret))).toEqual([]);
});
