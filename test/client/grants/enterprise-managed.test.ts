import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  enterpriseManagedAuthorizer,
  loginEnterpriseManaged,
} from '../../../src/client/index.ts';
import { createTestIssuer } from '../../support/trusted-issuer.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  as.routes['POST /token'] = { json: { access_token: 'at', token_type: 'Bearer', expires_in: 60 } };
  const idp = await startServer();
  const signer = await createTestIssuer(idp.origin);
  const about = { audience: as.origin, clientId: 'at-as', resource: mcp.url };
  const inForce = { iat: startOfTime, exp: startOfTime + 300 };
  const made = await Promise.all(['1', '2'].map((jti) => signer.assertPerson(about, { ...inForce, jti })));
  let given = 0;
  idp.routes['POST /token'] = () => ({
    json: {
      access_token: made[given++],
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
  return { as, mcp, idp, store, options, forms, made };
}

describe('an enterprise-managed authorization', () => {
  it('is two requests: an assertion for this server and its issuer, then the token (A13-04, A13-05, A13-07)', async () => {
    const { as, mcp, idp, store, options, forms, made } = await setUp();
    const { credential } = await loginEnterpriseManaged(testContext(), mcp.url, options);
    expect(forms(idp)).toMatchObject([
      { audience: as.origin, resource: mcp.url, subject_token: 'id.token', client_id: 'at-idp' },
    ]);
    expect(forms(as)).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: made[0],
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
    const { as, mcp, idp, options, forms, made } = await setUp();
    const authorize = enterpriseManagedAuthorizer(testContext(), options);
    const need = { server: mcp.url, challenge: null };
    await authorize({ ...need, why: 'no_credential' });
    await authorize({ ...need, why: 'insufficient_scope', scopes: ['read', 'write'] });
    expect(forms(idp).map(({ scope }) => scope)).toEqual(['read', 'read write']);
    expect(forms(as).map(({ assertion, scope }) => [assertion, scope])).toEqual([
      [made[0], 'read'],
      [made[1], 'read write'],
    ]);
  });

  it('sends nothing to the server that is no assertion for it (FA-16, T-216)', async () => {
    const { as, mcp, idp, options } = await setUp();
    const answer = { issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag', token_type: 'N_A' };
    const signer = await createTestIssuer(idp.origin);
    const about = { audience: 'https://other.example', clientId: 'at-as', resource: mcp.url };
    const inForce = { iat: startOfTime, exp: startOfTime + 300 };
    for (const token of ['opaque', await signer.assertPerson(about, inForce)]) {
      idp.routes['POST /token'] = { json: { ...answer, access_token: token } };
      const login = loginEnterpriseManaged(testContext(), mcp.url, options);
      await expect(login).rejects.toMatchObject({ reason: 'token_refused' });
    }
    expect(as.asked()).not.toContain('POST /token');
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
