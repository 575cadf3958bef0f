// The whole way of a person: an MCP client, src/authorization-server/upstream-login/upstream-pages.ts, the pages of an
// upstream, and a tool that asks the API there who the caller is (src/upstream/tools/).
import {
  Client,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type GatehouseOptions, upstream } from '../../src/index.ts';
import { createMemoryProvider } from '../flows/clients/support/oauth-provider.ts';
import { openPage, startBrowser } from '../support/browser.ts';
import { startGatehouse } from '../support/gatehouse.ts';
import { startGithubLikeUpstream } from '../support/upstreams/github-like.ts';
import { googleApiPath, startGoogleLikeUpstream } from '../support/upstreams/google-like.ts';
import { apiPath, startOpenIdUpstream } from '../support/upstreams/open-id.ts';
import { lin } from '../support/upstreams/people.ts';
import { chooseWork, goToWork, logInAtWork } from './support/upstream-pages.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

function serverOf(apiUrl: string): NonNullable<GatehouseOptions['server']> {
  const create = (): McpServer => {
    const server = new McpServer({ name: 'who', version: '1' });
    server.registerTool('who', {}, async (context) => {
      const answer = await upstream(context, 'work').fetch(apiUrl);
      return { content: [{ type: 'text', text: await answer.text() }] };
    });
    return server;
  };
  return { name: 'Who', create };
}

it.each([
  ['a provider of OpenID Connect', startOpenIdUpstream, apiPath, `"sub":"${lin.sub}"`],
  ['one like GitHub', startGithubLikeUpstream, '/user', `"id":${lin.sub}`],
  ['one like Google', startGoogleLikeUpstream, googleApiPath, `"sub":"${lin.sub}"`],
] as const)(
  'from a client over our approval and the pages of %s back to the client, whose tool calls the API there as that person (A10-01, A11-01)',
  async (_kind, startUpstream, path, expected) => {
    const work = await startUpstream();
    onTestFinished(() => work.stop());
    const gatehouse = await startGatehouse({
      dangerously: { upstreamsOverHttp: true },
      upstreams: { work: work.settings({ apiHosts: [new URL(work.url).host], accounts: { create: true } }) },
      server: serverOf(`${work.url}${path}`),
    } as Partial<GatehouseOptions>);
    onTestFinished(() => gatehouse.stop());
    work.allow(`${gatehouse.url}/upstream/work/callback`);

    const provider = createMemoryProvider<
      StoredOAuthClientInformation,
      StoredOAuthTokens,
      OAuthDiscoveryState
    >('A client');
    const open = () =>
      new StreamableHTTPClientTransport(new URL(gatehouse.mcpUrl), { authProvider: provider });
    const refused = open();
    const client = new Client({ name: 'client', version: '1' });
    await expect(client.connect(refused)).rejects.toThrow(UnauthorizedError);

    const { page } = await openPage(browser);
    await page.route(`${provider.redirectUrl}**`, (route) => route.fulfill({ body: 'back in the client' }));
    await page.goto(provider.authorizationUrl());
    await chooseWork(page);
    await goToWork(page);
    await logInAtWork(page);
    await page.waitForURL(`${provider.redirectUrl}**`);
    await refused.finishAuth(new URL(page.url()).searchParams);

    const connected = new Client({ name: 'client', version: '1' });
    await connected.connect(open());
    onTestFinished(() => connected.close());
    const { content } = await connected.callTool({ name: 'who' });
    expect(JSON.stringify(content).replaceAll('\\', '')).toContain(expected);
  },
);
