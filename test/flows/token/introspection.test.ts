// Flows of src/authorization-server/endpoints/introspection-endpoint.ts.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { obtainBoundTokens } from '../../support/bound-tokens.ts';
import {
  type ConfidentialClient,
  files,
  registerConfidential,
  startWithFiles,
} from '../../support/foreign-resource.ts';
import type { RunningGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, register } from '../../support/oauth.ts';
import { createProver } from '../../support/proofs.ts';
import { expectRefused, generousLimits } from './subject.ts';

afterEach(() => void vi.useRealTimers());

describe.each(['jwt', 'opaque'] as const)('introspection of tokens in the format %s', (accessTokenFormat) => {
  let folder: string;
  let gatehouse: RunningGatehouse;
  let fileServer: ConfidentialClient;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-introspection-'));
    ({ gatehouse, fileServer } = await startWithFiles(folder, {
      resource: { accessTokenFormat },
      settings: { limits: generousLimits },
    }));
  });
  afterAll(async () => {
    await gatehouse.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const introspect = (fields: Record<string, string>): Promise<Response> =>
    post(`${gatehouse.url}/introspect`, fields);

  const obtain = () =>
    obtainTokens(
      { ...gatehouse, mcpUrl: files.resource },
      { scope: 'files:read files:write', scopes: ['files:read'] },
    );

  async function expectInactive(response: Response): Promise<void> {
    expect([response.status, await response.json()]).toEqual([200, { active: false }]);
    expect(response.headers.get('cache-control')).toContain('no-store');
  }

  it('tells the server of their resource whose they are, for what, and until when (T-052)', async () => {
    const { clientId, tokens } = await obtain();
    expect(tokens.access_token.includes('.')).toBe(accessTokenFormat === 'jwt');
    const response = await introspect({ ...fileServer, token: tokens.access_token });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toContain('no-store');
    const nowSeconds = Math.floor(Date.now() / 1000);
    const answer = (await response.json()) as { exp: number; sub: string };
    expect(answer).toMatchObject({
      active: true,
      iss: gatehouse.url,
      client_id: clientId,
      aud: files.resource,
      scope: 'files:read',
      token_type: 'Bearer',
      auth_time: expect.any(Number),
      amr: ['pwd'],
    });
    expect(answer.sub).toMatch(/^[\w-]{10,}$/);
    expect(answer.exp - nowSeconds).toBeGreaterThan(290);
    expect(answer.exp - nowSeconds).toBeLessThanOrEqual(300);
  });

  it('tells the key a token is bound to (A13-09)', async () => {
    const prover = await createProver();
    const { tokens } = await obtainBoundTokens({ ...gatehouse, mcpUrl: files.resource }, prover, {
      parameters: { scope: 'files:read' },
      scopes: ['files:read'],
    });
    const response = await introspect({ ...fileServer, token: tokens.access_token });
    expect(await response.json()).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: prover.thumbprint },
    });
  });

  it('is refused without proof of who asks (T-052)', async () => {
    const { tokens } = await obtain();
    const { access_token: token } = tokens;
    await expectRefused(await introspect({ token }), 'invalid_request');
    await expectRefused(await introspect({ client_id: fileServer.client_id, token }), 'invalid_client', 401);
    const wrong = { ...fileServer, client_secret: 'wrong' };
    await expectRefused(await introspect({ ...wrong, token }), 'invalid_client', 401);
  });

  it('tells nothing to a public client, to the client of the token, or to one nobody named (T-052)', async () => {
    const { clientId, tokens } = await obtain();
    const { access_token: token } = tokens;
    const { client_id: stranger } = await register(gatehouse.url);
    await expectInactive(await introspect({ client_id: stranger, token }));
    await expectInactive(await introspect({ client_id: clientId, token }));
    await expectInactive(await introspect({ ...(await registerConfidential(gatehouse.url)), token }));
  });

  it('tells nothing of a token for another resource, nor of a refresh token (T-052)', async () => {
    const ofMcp = await obtainTokens(gatehouse);
    await expectInactive(await introspect({ ...fileServer, token: ofMcp.tokens.access_token }));
    const { tokens } = await obtain();
    await expectInactive(await introspect({ ...fileServer, token: tokens.refresh_token }));
  });

  it.each(['nothing', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', ''])(
    'of %j tells nothing (T-052)',
    async (token) => {
      const response = await introspect({ ...fileServer, token });
      if (token === '') await expectRefused(response, 'invalid_request');
      else await expectInactive(response);
    },
  );

  it.each(['refresh_token', 'access_token'] as const)(
    'says of a token that it is not active once it was revoked by its %s (T-052, F3)',
    async (revoked) => {
      const { clientId, tokens } = await obtain();
      const revocation = await post(`${gatehouse.url}/revoke`, {
        client_id: clientId,
        token: tokens[revoked],
      });
      expect([revocation.status, await revocation.text()]).toEqual([200, '']);
      await expectInactive(await introspect({ ...fileServer, token: tokens.access_token }));
    },
  );

  it('says so of a token that has expired (T-052, T-097)', async () => {
    const { tokens } = await obtain();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 301_000 });
    await expectInactive(await introspect({ ...fileServer, token: tokens.access_token }));
  });

  it('is not had by a token that only bears the id of a good one (T-098)', async () => {
    if (accessTokenFormat === 'opaque') return;
    const { tokens } = await obtain();
    const [header = '', payload = ''] = tokens.access_token.split('.');
    const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string };
    await expectInactive(await introspect({ ...fileServer, token: jti }));
    await expectInactive(
      await introspect({ ...fileServer, token: `${header}.${payload}.${'A'.repeat(86)}` }),
    );
  });

  it('is advertised, with the ways to prove who asks (T-052)', async () => {
    const metadata = await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      introspection_endpoint: `${gatehouse.url}/introspect`,
      introspection_endpoint_auth_methods_supported: expect.arrayContaining(['client_secret_basic']),
    });
    expect((await fetch(`${gatehouse.url}/introspect`)).status).toBe(405);
  });
});
