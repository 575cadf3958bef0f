import { type OAuthDiscoveryState, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { expect } from 'vitest';
import { type Decision, decide } from '../../../support/person.ts';
import { createMemoryProvider } from './oauth-provider.ts';

/**
 * Connects as an application with SDK v1 does: refused, a person in the browser, the code, connected.
 * @returns the client, what its provider keeps, and the challenges of each 403 it met
 */
export async function connectSdkV1(mcpUrl: string, decision: Decision = {}) {
  const provider = createMemoryProvider<OAuthClientInformationMixed, OAuthTokens, OAuthDiscoveryState>(
    'An app with SDK v1',
  );
  const challenges: string[] = [];
  const open = () =>
    new StreamableHTTPClientTransport(new URL(mcpUrl), {
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

  const callback = await decide(provider.authorizationUrl(), decision);
  expect(callback.href.startsWith(provider.redirectUrl)).toBe(true);
  expect(callback.searchParams.get('state')).toBe(provider.state());
  await refused.finishAuth(callback.searchParams.get('code') ?? '');

  const client = new Client({ name: 'test', version: '1' });
  await client.connect(open());
  return { client, provider, challenges };
}
