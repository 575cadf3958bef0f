import { describe, expect, it } from 'vitest';
import {
  findIdentityProvider,
  requestIdentityAssertion,
} from '../../../src/client/grants/identity-provider.ts';
import {
  createMemoryStore,
  enterpriseManagedAuthorizer,
  loginEnterpriseManaged,
} from '../../../src/client/index.ts';
import { createTestIssuer } from '../../support/trusted-issuer.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

const types = 'urn:ietf:params:oauth:token-type:';
const client = { clientId: 'at-idp' };
const subject = { token: 'id.token', type: 'id_token' as const };
const purpose = {
  audience: 'https://as.example',
  resource: 'https://mcp.example/mcp',
  clientId: 'at-as',
  scopes: ['read'],
};
const inForce = { iat: startOfTime, exp: startOfTime + 300 };

async function startIdentityProvider() {
  const server = await startServer();
  const issuer = server.origin;
  const document = { issuer, token_endpoint: `${issuer}/token` };
  const signer = await createTestIssuer(issuer);
  const assertion = (claims = {}, header = {}) =>
    signer.assertPerson(purpose, { ...inForce, ...claims }, header);
  const good = await assertion();
  server.routes = {
    'GET /.well-known/openid-configuration': { json: document },
    'POST /token': {
      json: { access_token: good, issued_token_type: `${types}id-jag`, token_type: 'N_A' },
    },
  };
  const answerWith = (access_token: string, members = {}) => {
    server.routes['POST /token'] = {
      json: { access_token, issued_token_type: `${types}id-jag`, token_type: 'N_A', ...members },
    };
  };
  return { server, issuer, document, signer, assertion, good, answerWith };
}

describe('an identity provider', () => {
  it('exchanges the identity of a user for an assertion (A13-05)', async () => {
    const { server, issuer, good } = await startIdentityProvider();
    const ask = () => requestIdentityAssertion(testContext(), { issuer, client }, subject, purpose);
    expect(await ask()).toBe(good);
    const sent = server.requests.find(({ path }) => path === '/token');
    expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: `${types}id-jag`,
      audience: 'https://as.example',
      resource: 'https://mcp.example/mcp',
      subject_token: 'id.token',
      subject_token_type: `${types}id_token`,
      scope: 'read',
      client_id: 'at-idp',
    });
  });

  it.each([
    [
      'refuses',
      { status: 400, json: { error: 'invalid_grant' } },
      /identity provider refused.*invalid_grant/,
    ],
    [
      'gives another type of token',
      { json: { access_token: 'x', issued_token_type: `${types}access_token`, token_type: 'N_A' } },
      /another type.*access_token/,
    ],
    ['gives no type at all', { json: { access_token: 'x', token_type: 'N_A' } }, /another type/],
  ])('that %s is named in the failure', async (_, answer, message) => {
    const { server, issuer } = await startIdentityProvider();
    server.routes['POST /token'] = answer;
    const ask = requestIdentityAssertion(testContext(), { issuer, client }, subject, purpose);
    await expect(ask).rejects.toMatchObject({
      reason: 'token_refused',
      message: expect.stringMatching(message),
    });
  });

  it.each<[string, object, object, RegExp]>([
    ['of another type', {}, { typ: 'JWT' }, /of the type "JWT" in place of oauth-id-jag\+jwt/],
    ['of no type', {}, { typ: undefined }, /in place of oauth-id-jag\+jwt/],
    ['of an access token’s type', {}, { typ: 'at+jwt' }, /"at\+jwt"/],
    ['of another issuer', { iss: 'https://other.example' }, {}, /of the issuer "https:\/\/other.example"/],
    ['for another server', { aud: 'https://evil.example' }, {}, /for "https:\/\/evil.example"/],
    ['for two servers', { aud: ['https://as.example', 'https://evil.example'] }, {}, /alone \(aud\)/],
    ['for no server', { aud: undefined }, {}, /alone \(aud\)/],
    ['for another resource', { resource: 'https://mcp.example/other' }, {}, /for the resource/],
    ['for two resources', { resource: [purpose.resource, 'https://b.example'] }, {}, /for the resource/],
    ['for no resource', { resource: undefined }, {}, /for the resource/],
    ['for another client', { client_id: 'at-idp' }, {}, /for the client "at-idp" in place of "at-as"/],
    ['for a list of clients', { client_id: ['at-as'] }, {}, /for the client/],
    ['that has expired', { exp: startOfTime - 60 }, {}, /has expired/],
    ['without an end', { exp: undefined }, {}, /no exp/],
    ['with an end in words', { exp: '2999' }, {}, /no exp/],
  ])(
    'that gives an assertion %s is not believed, and nothing is sent on (FA-16, T-216)',
    async (_, claims, header, message) => {
      const { issuer, assertion, answerWith } = await startIdentityProvider();
      answerWith(await assertion(claims, header));
      const ask = requestIdentityAssertion(testContext(), { issuer, client }, subject, purpose);
      await expect(ask).rejects.toMatchObject({
        reason: 'token_refused',
        message: expect.stringMatching(message),
      });
      await expect(ask).rejects.toThrow(/was not sent on/);
    },
  );

  it('that gives an ID token, an opaque token or a bearer token is not believed (FA-16, T-216)', async () => {
    const { issuer, signer, good, answerWith } = await startIdentityProvider();
    const ask = () => requestIdentityAssertion(testContext(), { issuer, client }, subject, purpose);
    answerWith(await signer.assertWorkload(purpose.audience, { ...inForce, nonce: 'n' }));
    await expect(ask()).rejects.toThrow(/of the type "JWT"/);
    for (const opaque of ['opaque', 'a.b.c', `x${good}`]) {
      answerWith(opaque);
      await expect(ask()).rejects.toThrow(/no JWT in place of an assertion/);
    }
    answerWith(good, { token_type: 'Bearer' });
    await expect(ask()).rejects.toThrow(/of the type "bearer".*N_A/);
  });

  it('may name the audience and the resource as lists of one, and leave the client out (A13-05)', async () => {
    const { issuer, assertion, answerWith } = await startIdentityProvider();
    const lists = { aud: [purpose.audience], resource: [purpose.resource], client_id: undefined };
    const listed = await assertion(lists);
    answerWith(listed);
    expect(await requestIdentityAssertion(testContext(), { issuer, client }, subject, purpose)).toBe(listed);
  });

  it('is asked for nothing where its token endpoint is known', async () => {
    const provider = { issuer: 'https://idp.example', tokenEndpoint: 'https://idp.example/t', client };
    expect(await findIdentityProvider(testContext(), provider)).toEqual({
      issuer: 'https://idp.example',
      token_endpoint: 'https://idp.example/t',
    });
  });

  it('is found by its OAuth metadata too', async () => {
    const { server, issuer, document } = await startIdentityProvider();
    server.routes = {
      'GET /.well-known/oauth-authorization-server': {
        json: { ...document, token_endpoint_auth_methods_supported: ['client_secret_post'] },
      },
    };
    expect(await findIdentityProvider(testContext(), { issuer, client })).toMatchObject({
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    });
  });

  it.each([
    ['names another issuer', { issuer: 'https://evil.example' }, 'issuer_mismatch'],
    ['leads to http elsewhere', { token_endpoint: 'http://idp.example/t' }, 'bad_url'],
    ['names no token endpoint', { token_endpoint: undefined }, 'bad_url'],
    ['is missing', { issuer: undefined }, 'no_metadata'],
  ])('whose metadata %s is not used (T-183)', async (_, change, reason) => {
    const { server, issuer, document } = await startIdentityProvider();
    server.routes['GET /.well-known/openid-configuration'] = { json: { ...document, ...change } };
    await expect(findIdentityProvider(testContext(), { issuer, client })).rejects.toMatchObject({ reason });
  });
});

describe('enterprise managed', () => {
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
});
