// Flows of src/authorization-server/jwt/own-jwt.ts.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obtainBoundTokens } from '../../support/bound-tokens.ts';
import { files, startWithFiles } from '../../support/foreign-resource.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, refresh, register, tryAccess } from '../../support/oauth.ts';
import { createProver, provenHeaders } from '../../support/proofs.ts';
import { expectTokens, generousLimits } from './subject.ts';

const filesChoice = { scope: 'files:read', scopes: ['files:read'] };

describe('an access token for a resource that lives elsewhere', () => {
  let folder: string;
  let gatehouse: RunningGatehouse;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-jwt-'));
    ({ gatehouse } = await startWithFiles(folder, { settings: { limits: generousLimits } }));
  });
  afterAll(async () => {
    await gatehouse.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const verify = (token: string) =>
    jwtVerify(token, createRemoteJWKSet(new URL(`${gatehouse.url}/jwks`)), {
      issuer: gatehouse.url,
      audience: files.resource,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    });

  it('is a JWT that anybody can check with the published keys, and says all RFC 9068 asks (A12-11)', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { clientId, tokens } = await obtainTokens({ ...gatehouse, mcpUrl: files.resource }, filesChoice);
    const { payload, protectedHeader } = await verify(tokens.access_token);
    expect(protectedHeader).toMatchObject({ typ: 'at+jwt', alg: 'ES256', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: gatehouse.url,
      sub: expect.any(String),
      aud: files.resource,
      client_id: clientId,
      scope: 'files:read',
      jti: expect.stringMatching(/^[\w-]{21,}$/),
      iat: expect.any(Number),
      exp: Number(payload.iat) + 300,
      auth_time: expect.any(Number),
      amr: ['pwd'],
    });
    expect(Number(payload.auth_time)).toBeGreaterThanOrEqual(before);
    expect(tokens.expires_in).toBe(300);
  });

  it('has an id of its own each time, says when its person logged in after a refresh too, and is no token of ours', async () => {
    const { clientId, tokens } = await obtainTokens({ ...gatehouse, mcpUrl: files.resource }, filesChoice);
    const next = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    const [first, second] = [decodeJwt(tokens.access_token), decodeJwt(next.access_token)];
    expect(second.jti).not.toBe(first.jti);
    expect(second.auth_time).toBe(first.auth_time);
    expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(401);
  });

  it('says which key it is bound to (A13-09)', async () => {
    const prover = await createProver();
    const { tokens } = await obtainBoundTokens({ ...gatehouse, mcpUrl: files.resource }, prover, {
      parameters: { scope: 'files:read' },
      scopes: ['files:read'],
    });
    expect(tokens.token_type).toBe('DPoP');
    expect((await verify(tokens.access_token)).payload.cnf).toEqual({ jkt: prover.thumbprint });
  });

  it('is had with no scope of another resource', async () => {
    const asked = { scope: 'files:read notes:read', scopes: ['files:read'] };
    const { tokens } = await obtainTokens({ ...gatehouse, mcpUrl: files.resource }, asked);
    expect(decodeJwt(tokens.access_token).scope).toBe('files:read');
  });

  it('leaves no plain text in the database, nor in the log (T-194)', async () => {
    const { tokens } = await obtainTokens({ ...gatehouse, mcpUrl: files.resource }, filesChoice);
    const { jti = '' } = decodeJwt(tokens.access_token);
    expect(gatehouse.log.join('\n')).not.toContain(tokens.access_token.split('.')[2]);
    expect(gatehouse.log.join('\n')).not.toContain(jti);
  });
});

describe('access tokens of the MCP endpoint that are JWTs', () => {
  let gatehouse: RunningGatehouse;
  beforeAll(async () => {
    gatehouse = await startGatehouse({ limits: generousLimits, tokens: { format: 'jwt' } });
  });
  afterAll(() => gatehouse.stop());

  it('open it, bound to a key as well (A13-09)', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    expect(decodeJwt(tokens.access_token).aud).toBe(gatehouse.mcpUrl);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);

    const prover = await createProver();
    const bound = await obtainBoundTokens(gatehouse, prover);
    const { access_token: accessToken } = bound.tokens;
    expect(await tryAccess(gatehouse.mcpUrl, accessToken)).toBe(401);
    const proof = await prover.prove({ url: gatehouse.mcpUrl, accessToken });
    const response = await fetch(gatehouse.mcpUrl, {
      method: 'POST',
      headers: {
        ...provenHeaders(accessToken, proof),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect(response.status).not.toBe(401);
  });

  it.each(['access_token', 'refresh_token'] as const)(
    'end at once with their grant, revoked by its %s, and the revocation is in the audit log (F3, T-051, T-103)',
    async (which) => {
      const { clientId, tokens } = await obtainTokens(gatehouse);
      const next = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
      const before = gatehouse.log.filter((line) => line.includes('grant.revoked')).length;
      const response = await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: next[which] });
      expect([response.status, await response.text()]).toEqual([200, '']);
      expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(401);
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
      expect((await refresh(gatehouse.url, clientId, next.refresh_token)).status).toBe(400);
      expect(gatehouse.log.filter((line) => line.includes('grant.revoked'))).toHaveLength(before + 1);
    },
  );

  it('are not revoked by another client, nor by a forged token with the same id (T-051)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const { client_id: other } = await register(gatehouse.url);
    const [header = '', payload = ''] = tokens.access_token.split('.');
    for (const fields of [
      { client_id: other, token: tokens.access_token },
      { client_id: clientId, token: `${header}.${payload}.${'A'.repeat(86)}` },
      { client_id: clientId, token: 'a.b.c' },
    ]) {
      const response = await post(`${gatehouse.url}/revoke`, fields);
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('are not had by their id: it is no opaque token', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    expect(await tryAccess(gatehouse.mcpUrl, String(decodeJwt(tokens.access_token).jti))).toBe(401);
  });

  it('are told from ID tokens, which open nothing and end nothing (T-100)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, { scope: 'openid notes:read' });
    const idToken = (tokens as { id_token?: string }).id_token ?? '';
    expect(idToken).toMatch(/^ey/);
    expect(await tryAccess(gatehouse.mcpUrl, idToken)).toBe(401);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: idToken });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });
});
