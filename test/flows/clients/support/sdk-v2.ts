import {
  Client,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { type Decision, decide } from '../../../support/person.ts';
import { createMemoryProvider } from './oauth-provider.ts';

/**
 * Connects as an application with SDK v2 does: refused, a person in the browser, the code, connected.
 * @param mode which era the client speaks
 * @returns the client, what its provider keeps, and `authorizeAgain` for a URL the SDK asks its person to open later
 */
export async function connectSdkV2(mcpUrl: string, mode: VersionNegotiationMode, decision: Decision = {}) {
  const provider = createMemoryProvider<StoredOAuthClientInformation, StoredOAuthTokens, OAuthDiscoveryState>(
    'An app with SDK v2',
  );
  const create = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const open = () => new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider: provider });
  const refused = open();
  await expect(create().connect(refused)).rejects.toThrow(UnauthorizedError);

  const finish = async (transport: StreamableHTTPClientTransport, answer: Decision): Promise<void> => {
    const callback = await decide(provider.authorizationUrl(), answer);
    expect(callback.searchParams.get('state')).toBe(provider.state());
    await transport.finishAuth(callback.searchParams);
  };
  await finish(refused, decision);

  const client = create();
  await client.connect(open());
  return { client, provider, authorizeAgain: (answer: Decision = {}) => finish(open(), answer) };
}
