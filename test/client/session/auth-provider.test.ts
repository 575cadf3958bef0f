import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  type Authorizer,
  type ClientContext,
  type CredentialStore,
  createAuthProvider,
  createMemoryStore,
} from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

async function setUp(overrides: Parameters<typeof testCredential>[0] = {}) {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as);
  as.accessTokens.add('at');
  as.refreshTokens.add('rt');
  const context = testContext();
  const store = createMemoryStore();
  await store.saveRegistration(testRegistration({ issuer: as.origin }));
  await store.saveCredential(mcp.url, testCredential({ issuer: as.origin, resource: mcp.url, ...overrides }));
  return { as, mcp, context, store };
}

async function listTools(
  context: ClientContext,
  url: string,
  store: CredentialStore,
  authorizer?: Authorizer,
): Promise<void> {
  const authProvider = createAuthProvider(context, url, store, { authorizer });
  const client = new Client({ name: 'test', version: '1' });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
    await client.listTools();
  } finally {
    await client.close();
  }
}

const refused = (context = 'Bearer error="invalid_token"'): { response: Response } => ({
  response: new Response(null, { status: 401, headers: { 'www-authenticate': context } }),
});

describe('an AuthProvider, in the transport of the SDK', () => {
  it('brings the token to every request (A8-01)', async () => {
    const { mcp, context, store } = await setUp();
    await listTools(context, mcp.url, store);
    expect(new Set(mcp.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer at']));
  });

  it('renews a rejected token (A9-05)', async () => {
    const { as, mcp, context, store } = await setUp();
    as.accessTokens.clear();
    await listTools(context, mcp.url, store);
    expect(as.asked()).toEqual(['POST /token']);
  });

  it('logs in where there is no login', async () => {
    const { as, mcp, context } = await setUp();
    const store = createMemoryStore();
    const credential = testCredential({ issuer: as.origin, resource: mcp.url });
    const needs: string[] = [];
    await listTools(context, mcp.url, store, async ({ why }) => {
      needs.push(why);
      await store.saveCredential(mcp.url, credential);
      return credential;
    });
    expect(needs).toEqual(['no_credential']);
  });

  it('does not hand out a token that is bound to a key, which the transport could not prove', async () => {
    const { mcp, context, store } = await setUp({ dpopKey: { kty: 'EC' } });
    await expect(createAuthProvider(context, mcp.url, store).token()).rejects.toMatchObject({
      reason: 'bad_key',
    });
  });
});

describe('an AuthProvider that hears of refusals', () => {
  it('renews once for all that are refused at once (T-186)', async () => {
    const { as, mcp, context, store } = await setUp();
    const provider = createAuthProvider(context, mcp.url, store);
    await Promise.all([provider.token(), provider.token(), provider.token()]);
    const hear = () =>
      provider.onUnauthorized?.({ ...refused(), serverUrl: new URL(mcp.url), fetchFn: fetch });
    await Promise.all([hear(), hear(), hear()]);
    await hear();
    expect(as.asked()).toEqual(['POST /token']);
  });

  it('stops a storm of renewals, and lets through again after a minute (T-186)', async () => {
    const { as, mcp, context, store } = await setUp();
    const provider = createAuthProvider(context, mcp.url, store);
    const failures: unknown[] = [];
    for (let request = 0; request < 10; request++) {
      try {
        await provider.token();
        await provider.onUnauthorized?.({ ...refused(), serverUrl: new URL(mcp.url), fetchFn: fetch });
        await provider.token();
      } catch (error) {
        failures.push(error);
      }
      context.clock.seconds += 3;
    }
    expect(as.asked().length).toBeLessThanOrEqual(4);
    expect(failures.length).toBeGreaterThanOrEqual(6);
    context.clock.seconds += 60;
    expect(await provider.token()).toBeDefined();
  });

  it('goes from a renewal that did not help to a login', async () => {
    const { as, mcp, context, store } = await setUp();
    const login = testCredential({ issuer: as.origin, resource: mcp.url, accessToken: 'login' });
    const provider = createAuthProvider(context, mcp.url, store, {
      authorizer: async () => {
        await store.saveCredential(mcp.url, login);
        return login;
      },
    });
    const tokens: unknown[] = [];
    for (let refusal = 0; refusal < 2; refusal++) {
      await provider.token();
      await provider.onUnauthorized?.({ ...refused(), serverUrl: new URL(mcp.url), fetchFn: fetch });
      tokens.push(await provider.token());
      context.clock.seconds += 3;
    }
    expect(tokens).toEqual([expect.stringMatching(/^at-/), 'login']);
  });
});
