import {
  Client,
  CrossAppAccessProvider,
  requestJwtAuthorizationGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryStore, loginEnterpriseManaged } from '../../../src/client/index.ts';
import { ada } from '../../support/gatehouse.ts';
import { type IdentityProviderEndpoint, startIdentityProvider } from '../../support/identity-provider.ts';
import { tryAccess } from '../../support/oauth.ts';
import { type EnterpriseSetUp, secret, trustIdentityProvider } from './subject.ts';

let setUp: EnterpriseSetUp;
let idp: IdentityProviderEndpoint;
beforeAll(async () => {
  setUp = await trustIdentityProvider();
  idp = await startIdentityProvider(setUp.idp, { 'desk-at-idp': 'desk' });
});
afterAll(async () => {
  await idp.stop();
  await setUp.gatehouse.stop();
});

describe('a person of an organization', () => {
  it('is let in by the MCP SDK with an assertion of the organization, and never sees a page (A13-04, A13-06, A13-07)', async () => {
    const { gatehouse } = setUp;
    const visited: string[] = [];
    const fetchFn: typeof fetch = async (input, init) => {
      visited.push(new URL(input instanceof Request ? input.url : input).pathname);
      return fetch(input, init);
    };
    const authProvider = new CrossAppAccessProvider({
      clientId: 'desk',
      clientSecret: secret,
      expectedIssuer: gatehouse.url,
      fetchFn,
      assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn: send }) => {
        const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
          tokenEndpoint: idp.tokenEndpoint,
          audience: authorizationServerUrl,
          resource: resourceUrl,
          idToken: await idp.logIn('ada-at-idp', 'desk-at-idp'),
          clientId: 'desk-at-idp',
          clientSecret: 'x',
          ...(scope === undefined ? {} : { scope }),
          fetchFn: send,
        });
        return jwtAuthGrant;
      },
    });
    const client = new Client({ name: 'desk', version: '1' });
    onTestFinished(() => client.close());
    const url = new URL(gatehouse.mcpUrl);
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider, fetch: fetchFn }));
    const who = await client.callTool({ name: 'whoami' });
    const [account] = await gatehouse.administration.accounts.list();
    expect(account?.email).toBe(ada.email);
    expect(JSON.stringify(who)).toContain(account?.id);
    expect(visited).not.toContain('/authorize');
    expect(visited).not.toContain('/register');
  });

  it('is let in by our own client (A13-04, A13-05, A13-07)', async () => {
    const { gatehouse } = setUp;
    const context = { fetch, now: () => Math.floor(Date.now() / 1000), timeoutMs: 10_000 };
    const login = (subject: string) =>
      loginEnterpriseManaged(context, gatehouse.mcpUrl, {
        store: createMemoryStore(),
        client: { clientId: 'desk', clientSecret: secret },
        identityProvider: {
          issuer: setUp.idp.issuer,
          tokenEndpoint: idp.tokenEndpoint,
          client: { clientId: 'desk-at-idp', tokenEndpointAuthMethod: 'none' },
        },
        subjectToken: async () => ({ token: await idp.logIn(subject, 'desk-at-idp'), type: 'id_token' }),
      });
    const { credential } = await login('ada-at-idp');
    expect(await tryAccess(gatehouse.mcpUrl, credential.accessToken ?? '')).toBe(200);
    expect(credential.refreshToken).toBeUndefined();
    expect(idp.requests.at(-1)).toMatchObject({ audience: gatehouse.url, resource: gatehouse.mcpUrl });
    await expect(login('mallory')).rejects.toMatchObject({ reason: 'token_refused' });
  });
});
