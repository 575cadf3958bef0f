import { describe, expect, it } from 'vitest';
import {
  findIdentityProvider,
  requestIdentityAssertion,
} from '../../../src/client/grants/identity-provider.ts';
import { testContext } from '../support/context.ts';
import { startServer } from '../support/scripted-server.ts';

const types = 'urn:ietf:params:oauth:token-type:';
const client = { clientId: 'at-idp' };
const subject = { token: 'id.token', type: 'id_token' as const };
const purpose = { audience: 'https://as.example', resource: 'https://mcp.example/mcp', scopes: ['read'] };

async function startIdentityProvider() {
  const server = await startServer();
  const issuer = server.origin;
  const document = { issuer, token_endpoint: `${issuer}/token` };
  server.routes = {
    'GET /.well-known/openid-configuration': { json: document },
    'POST /token': {
      json: { access_token: 'id.jag', issued_token_type: `${types}id-jag`, token_type: 'N_A' },
    },
  };
  return { server, issuer, document };
}

describe('an identity provider', () => {
  it('exchanges the identity of a user for an assertion (A13-05)', async () => {
    const { server, issuer } = await startIdentityProvider();
    const ask = () => requestIdentityAssertion(testContext(), { issuer, client }, subject, purpose);
    expect(await ask()).toBe('id.jag');
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
