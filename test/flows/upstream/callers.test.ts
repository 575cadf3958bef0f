// What tools learn about their callers: src/authorization-server/caller-details.ts and src/mcp/sdk/caller.ts, from the
// login at an upstream to `callerOf` in servers of both versions of the SDK.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CallContext, callerOf, type GatehouseOptions } from '../../../src/index.ts';
import { ada } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin } from '../../support/upstreams/people.ts';
import { arrive, type Scene, startScene } from '../bond/subject.ts';

const said = (context: CallContext) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(callerOf(context)) }],
});

const servers = {
  v2() {
    const server = new McpServer({ name: 'v2', version: '1' });
    server.registerTool('who', {}, said);
    return server;
  },
  v1() {
    const server = new McpServerV1({ name: 'v1', version: '1' });
    server.registerTool('who', {}, said);
    return server;
  },
} as const;

async function start(version: keyof typeof servers): Promise<Scene<OpenIdUpstream>> {
  const scene = await startScene(
    await startOpenIdUpstream(),
    { scopes: ['openid', 'profile', 'email', 'groups'], callerClaims: ['email_verified'] },
    { server: { name: 'Who', create: servers[version] } as GatehouseOptions['server'] },
  );
  onTestFinished(scene.stop);
  return scene;
}

async function ask(mcpUrl: string, token: string, revision: string): Promise<Record<string, unknown>> {
  const era =
    revision === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: 'client', version: '1' }, era);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
  onTestFinished(() => client.close());
  const { content } = await client.callTool({ name: 'who' });
  const [first] = content as { text: string }[];
  return JSON.parse(first?.text ?? '') as Record<string, unknown>;
}

describe.each(['v2', 'v1'] as const)('a server of SDK %s', (version) => {
  it('learns address, name, groups, selected claims, client and login of its caller in each era', async () => {
    const scene = await start(version);
    const { gatehouse, work } = scene;
    const before = Math.floor(Date.now() / 1000);
    const { tokens, clientId } = await arrive(scene);
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const caller = await ask(gatehouse.mcpUrl, tokens.access_token, revision);
      expect(caller).toMatchObject({
        subject: expect.stringMatching(/^acct_/),
        email: lin.email,
        emailVerified: true,
        displayName: lin.name,
        upstream: {
          name: 'work',
          issuer: work.url,
          subject: lin.sub,
          groups: lin.groups,
          claims: { email_verified: true },
        },
        clientId,
        client: { kind: 'registered' },
        grantId: expect.any(String),
        amr: ['fed'],
      });
      expect(Number(caller.authTime)).toBeGreaterThanOrEqual(before - 1);
      expect(JSON.stringify(caller)).not.toContain(tokens.access_token);
    }
  });

  it('learns nothing that an account does not have', async () => {
    const scene = await start(version);
    const { tokens } = await obtainTokens(scene.gatehouse, { scope: 'mcp', scopes: ['mcp'] });
    const caller = await ask(scene.gatehouse.mcpUrl, tokens.access_token, '2025-11-25');
    expect(caller).toMatchObject({ email: ada.email, emailVerified: false, amr: ['pwd'] });
    expect(caller).not.toHaveProperty('displayName');
    expect(caller).not.toHaveProperty('upstream');
  });
});
