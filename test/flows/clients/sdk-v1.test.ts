import { type OAuthDiscoveryState, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decide } from '../../support/person.ts';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { structured, textsOf } from './support/answers.ts';
import { createMemoryProvider } from './support/oauth-provider.ts';

let served: Served;
beforeAll(async () => {
  served = await serveGatehouse();
});
afterAll(() => served.stop());

/** Connects as an application does: refused, a person in the browser, the code, connected. */
async function connect(scopes?: string[]) {
  const provider = createMemoryProvider<OAuthClientInformationMixed, OAuthTokens, OAuthDiscoveryState>(
    'An app with SDK v1',
  );
  const challenges: string[] = [];
  const open = () =>
    new StreamableHTTPClientTransport(new URL(served.mcpUrl), {
      authProvider: provider,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (response.status === 403) challenges.push(response.headers.get('www-authenticate') ?? '');
        return response;
      },
    });
  const refused = open();
  await expect(new Client({ name: 'test', version: '1' }).connect(refused)).rejects.toThrow(
    UnauthorizedError,
  );

  const callback = await decide(provider.authorizationUrl(), scopes ? { scopes } : {});
  expect(callback.href.startsWith(provider.redirectUrl)).toBe(true);
  expect(callback.searchParams.get('state')).toBe(provider.state());
  await refused.finishAuth(callback.searchParams.get('code') ?? '');

  const client = new Client({ name: 'test', version: '1' });
  await client.connect(open());
  return { client, provider, challenges };
}

describe('the SDK v1 client, given nothing but the MCP URL', () => {
  it('registers, sends its person to consent, and calls tools', async () => {
    const { client, provider } = await connect();
    expect(structured(await client.callTool({ name: 'whoami' }))).toMatchObject({
      client: provider.clientInformation()?.client_id,
      scopes: ['notes:read', 'notes:write'],
    });
    const text = 'Water the plants';
    expect(structured(await client.callTool({ name: 'add_note', arguments: { text } })).text).toBe(text);
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: 'plants' } }))).toEqual([
      text,
    ]);
    await client.close();
  });

  it('is told in a 403 which scope a call needs that its person left out (A8-04)', async () => {
    const { client, challenges } = await connect(['notes:read']);
    expect(structured(await client.callTool({ name: 'whoami' })).scopes).toEqual(['notes:read']);
    await expect(client.callTool({ name: 'add_note', arguments: { text: 'no' } })).rejects.toMatchObject({
      code: 403,
    });
    expect(challenges[0]).toMatch(/error="insufficient_scope"/);
    expect(challenges[0]).toMatch(/scope="notes:write"/);
    expect(textsOf(await client.callTool({ name: 'search_notes', arguments: { query: 'no' } }))).toEqual([]);
    await client.close();
  });
});
