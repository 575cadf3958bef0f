// A resource server of somebody else, made of src/resource-server/index.ts, in front of tokens of a gatehouse.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDpopNonces,
  createJwtVerifier,
  createRequireBearer,
  createUsedProofs,
} from '../../../src/resource-server/index.ts';
import { obtainBoundTokens } from '../../support/bound-tokens.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { createProver, provenHeaders } from '../../support/proofs.ts';
import { generousLimits } from './subject.ts';

const server = createServer();
let gatehouse: RunningGatehouse;
let resource: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  resource = `${origin}/files`;
  gatehouse = await startGatehouse({
    limits: generousLimits,
    resources: [{ resource, name: 'Files', scopes: { 'files:read': 'Read your files.' } }],
  });
  const now = (): number => Math.floor(Date.now() / 1000);
  const app = new Koa();
  app.use(
    createRequireBearer({
      verifier: createJwtVerifier({
        issuers: [{ issuer: gatehouse.url, jwksUrl: `${gatehouse.url}/jwks` }],
        resource,
      }),
      resource,
      resourceMetadataUrl: `${origin}/.well-known/oauth-protected-resource/files`,
      baselineScopes: ['files:read'],
      requiredScopes: ['files:read'],
      dpop: {
        publicOrigin: origin,
        nonces: createDpopNonces(() => [randomUUID()], now),
        usedProofs: createUsedProofs(now),
        requireNonce: false,
        required: false,
        now,
      },
    }),
  );
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

const choice = { scope: 'files:read', scopes: ['files:read'] };
const at = () => ({ ...gatehouse, mcpUrl: resource });
const ask = (headers: Record<string, string>): Promise<Response> => fetch(resource, { headers });

describe('a resource server elsewhere', () => {
  it('lets in whom the gatehouse sent, and knows who it is (A12-11)', async () => {
    const { clientId, tokens } = await obtainTokens(at(), choice);
    const response = await ask({ authorization: `Bearer ${tokens.access_token}` });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { issuer: gatehouse.url, clientId, scopes: ['files:read'], audience: resource },
    ]);
  });

  it('lets in the holder of the key alone, with each proof once (A12-11, A13-09)', async () => {
    const prover = await createProver();
    const { tokens } = await obtainBoundTokens(at(), prover, {
      parameters: { scope: 'files:read' },
      scopes: ['files:read'],
    });
    const { access_token: accessToken } = tokens;
    const proof = await prover.prove({ url: resource, method: 'GET', accessToken });
    expect((await ask(provenHeaders(accessToken, proof))).status).toBe(200);
    expect((await ask(provenHeaders(accessToken, proof))).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${accessToken}` })).status).toBe(401);
  });

  it('takes nothing else for an access token: no ID token, logout token, client assertion or proof, nor one for another resource (T-100, T-096)', async () => {
    const { tokens } = await obtainTokens(at(), { ...choice, scope: 'openid files:read' });
    const ofMcp = await obtainTokens(gatehouse);
    const prover = await createProver();
    const key = { ...prover.privateJwk, alg: 'ES256' };
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: gatehouse.url,
      sub: 'ada',
      aud: resource,
      jti: 'j',
      iat: nowSeconds,
      exp: nowSeconds + 60,
    };
    const logoutToken = await new SignJWT({ ...claims, events: {} })
      .setProtectedHeader({ alg: 'ES256', typ: 'logout+jwt' })
      .sign(key);
    const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(key);
    const wrong = [
      String((tokens as { id_token?: string }).id_token),
      logoutToken,
      assertion,
      await prover.prove({ url: resource, method: 'GET' }),
      tokens.refresh_token,
      ofMcp.tokens.access_token,
    ];
    for (const token of wrong) {
      expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(401);
      const ours = await fetch(gatehouse.mcpUrl, { headers: { authorization: `Bearer ${token}` } });
      if (token !== ofMcp.tokens.access_token) expect(ours.status).toBe(401);
    }
  });
});
