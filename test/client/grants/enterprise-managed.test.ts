import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  enterpriseManagedAuthorizer,
  loginEnterpriseManaged,
} from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  as.routes['POST /token'] = { json: { access_token: 'at', token_type: 'Bearer', expires_in: 60 } };
  const idp = await startServer();
  let made = 0;
  idp.routes['POST /token'] = () => ({
    json: {
      access_token: `jag${++made}`,
      issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      token_type: 'N_A',
    },
  });
  const store = createMemoryStore();
  const options = {
    store,
    client: { clientId: 'at-as', clientSecret: 's' },
    identityProvider: {
      issuer: idp.origin,
      tokenEndpoint: `${idp.origin}/token`,
      client: { clientId: 'at-idp' },
    },
    subjectToken: () => ({ token: 'id.token', type: 'id_token' as const }),
  };
  const forms = ({ requests }: typeof idp) =>
    requests
      .filter(({ path }) => path === '/token')
      .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  return { as, mcp, idp, store, options, forms };
}

describe('an enterprise-managed authorization', () => {
  it('is two requests: an assertion for this server and its issuer, then the token (A13-04, A13-05, A13-07)', async () => {
    const { as, mcp, idp, store, options, forms } = await setUp();
    const { credential } = await loginEnterpriseManaged(testContext(), mcp.url, options);
    expect(forms(idp)).toMatchObject([
      { audience: as.origin, resource: mcp.url, subject_token: 'id.token', client_id: 'at-idp' },
    ]);
    expect(forms(as)).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: 'jag1',
        resource: mcp.url,
        scope: 'read',
      },
    ]);
    const [sent] = as.requests.filter(({ path }) => path === '/token');
    expect(sent?.headers.authorization).toBe(`Basic ${btoa('at-as:s')}`);
    expect(await store.findCredential(mcp.url)).toEqual(credential);
  });

  it('never sends the user to a page of the server, and registers nothing there (A13-07)', async () => {
    const { as, mcp, options } = await setUp();
    await loginEnterpriseManaged(testContext(), mcp.url, options);
    as.routes['POST /token'] = { status: 400, json: { error: 'invalid_grant' } };
    await expect(loginEnterpriseManaged(testContext(), mcp.url, options)).rejects.toMatchObject({
      reason: 'token_refused',
    });
    expect(new Set(as.asked())).toEqual(
      new Set(['GET /.well-known/oauth-authorization-server', 'POST /token']),
    );
  });

  it('takes a new assertion, with the scopes of the step-up, each time a session needs a token (A8-07)', async () => {
    const { as, mcp, idp, options, forms } = await setUp();
    const authorize = enterpriseManagedAuthorizer(testContext(), options);
    const need = { server: mcp.url, challenge: null };
    await authorize({ ...need, why: 'no_credential' });
    await authorize({ ...need, why: 'insufficient_scope', scopes: ['read', 'write'] });
    expect(forms(idp).map(({ scope }) => scope)).toEqual(['read', 'read write']);
    expect(forms(as).map(({ assertion, scope }) => [assertion, scope])).toEqual([
      ['jag1', 'read'],
      ['jag2', 'read write'],
    ]);
  });

  it('shows the identity to nobody where the server names another issuer than before (T-184)', async () => {
    const { mcp, idp, options } = await setUp();
    const login = loginEnterpriseManaged(testContext(), mcp.url, {
      ...options,
      issuer: 'https://as.example',
    });
    await expect(login).rejects.toMatchObject({ reason: 'authorization_server_changed' });
    expect(idp.requests).toEqual([]);
  });
});
