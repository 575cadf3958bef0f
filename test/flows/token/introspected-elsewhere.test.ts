// A resource server of somebody else that asks a gatehouse about tokens: src/resource-server/introspection/introspection-verifier.ts
// and the verifier around it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK } from 'jose';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashClientSecret } from '../../../src/authorization-server/operator-clients/client-secret.ts';
import {
  createIntrospectionVerifier,
  createRequireBearer,
  type IntrospectionClient,
} from '../../../src/resource-server/index.ts';
import { createClientKey } from '../../support/client-keys.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post } from '../../support/oauth.ts';
import { generousLimits } from './subject.ts';

const secret = '0123456789abcdef0123456789abcdef';
const server = createServer();
let gatehouse: RunningGatehouse;
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = await createClientKey('ES256', 'k1');
  const grantTypes: ['client_credentials'] = ['client_credentials'];
  const common = { grantTypes, scopes: ['files:read'] };
  const introspectedBy = ['by-secret', 'by-key'];
  gatehouse = await startGatehouse({
    limits: generousLimits,
    resources: ['/secret', '/key', '/wrong'].map((path) => ({
      resource: `${origin}${path}`,
      name: 'Files',
      scopes: { 'files:read': 'Read your files.' },
      accessTokenFormat: 'opaque' as const,
      introspectedBy,
    })),
    clients: {
      clientCredentials: true,
      preRegistered: [
        {
          ...common,
          clientId: 'by-secret',
          name: 'A server with a secret',
          authMethod: 'client_secret_basic',
          secretHash: hashClientSecret(secret),
        },
        {
          ...common,
          clientId: 'by-key',
          name: 'A server with a key',
          authMethod: 'private_key_jwt',
          jwks: { keys: [key.jwk as Record<string, unknown>] },
        },
      ],
    },
  });
  const privateKey = { ...(await exportJWK(key.privateKey)), kid: 'k1', alg: 'ES256' };
  const clients: Record<string, IntrospectionClient> = {
    '/secret': { clientId: 'by-secret', clientSecret: secret },
    '/key': { clientId: 'by-key', privateKey },
    '/wrong': { clientId: 'by-secret', clientSecret: 'wrong' },
  };
  const guards = new Map(
    Object.entries(clients).map(([path, client]) => [
      path,
      createRequireBearer({
        verifier: createIntrospectionVerifier({
          issuer: gatehouse.url,
          introspectionUrl: `${gatehouse.url}/introspect`,
          resource: `${origin}${path}`,
          client,
          cacheSeconds: 0,
        }),
        resource: `${origin}${path}`,
        resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource${path}`,
        baselineScopes: ['files:read'],
      }),
    ]),
  );
  const app = new Koa({ proxy: false });
  app.silent = true;
  app.use((ctx, next) => guards.get(ctx.path)?.(ctx, next));
  app.use((ctx) => {
    ctx.body = ctx.state.authInfo;
  });
  server.on('request', app.callback());
});
afterAll(async () => {
  await gatehouse.stop();
  server.closeAllConnections();
  server.close();
});

const ask = (path: string, token: string): Promise<Response> =>
  fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
const obtain = (path: string) =>
  obtainTokens({ ...gatehouse, mcpUrl: `${origin}${path}` }, { scope: 'files:read', scopes: ['files:read'] });

describe.each(['/secret', '/key'])('a resource server elsewhere that asks as %s', (path) => {
  it('lets in whom the gatehouse sent with an opaque token, until that is revoked (A12-11, F3)', async () => {
    const { clientId, tokens } = await obtain(path);
    const response = await ask(path, tokens.access_token);
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { issuer: gatehouse.url, clientId, scopes: ['files:read'], audience: `${origin}${path}` },
    ]);
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: tokens.refresh_token });
    expect((await ask(path, tokens.access_token)).status).toBe(401);
  });

  it('lets nobody in with a refresh token, one for another resource, or an invention (T-096, T-100)', async () => {
    const [own, other] = [await obtain(path), await obtain('/wrong')];
    for (const token of [own.tokens.refresh_token, other.tokens.access_token, 'an-invention']) {
      const response = await ask(path, token);
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('error="invalid_token"'),
      ]);
    }
  });
});

it('a resource server that the issuer does not let in is out of order, and calls no token bad (A12-11)', async () => {
  const { tokens } = await obtain('/wrong');
  const response = await ask('/wrong', tokens.access_token);
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([503, null]);
});
