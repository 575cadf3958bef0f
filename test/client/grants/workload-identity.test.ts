import { describe, expect, it } from 'vitest';
import {
  createMemoryStore,
  loginWithWorkloadIdentity,
  workloadIdentityAuthorizer,
} from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

async function setUp() {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as, { scopes: ['read'] });
  as.routes['POST /token'] = ({ body }) =>
    new URLSearchParams(body).get('assertion') === 'good.jwt'
      ? { json: { access_token: 'at', token_type: 'bearer', expires_in: 60 } }
      : { status: 400, json: { error: 'invalid_grant' } };
  const forms = () =>
    as.requests
      .filter(({ path }) => path === '/token')
      .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  return { as, mcp, forms, options: { store: createMemoryStore(), clientId: 'workload' } };
}

describe('a workload identity', () => {
  it('is the assertion of one request, without a secret, for the audience it is asked for (A13-10)', async () => {
    const { as, mcp, forms, options } = await setUp();
    const audiences: string[] = [];
    const assertion = (audience: string) => {
      audiences.push(audience);
      return 'good.jwt';
    };
    const { credential } = await loginWithWorkloadIdentity(testContext(), mcp.url, { ...options, assertion });
    expect(audiences).toEqual([as.origin]);
    expect(forms()).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: 'good.jwt',
        client_id: 'workload',
        resource: mcp.url,
        scope: 'read',
      },
    ]);
    expect(credential).toMatchObject({ workload: true });
    expect(credential.grant).toBeUndefined();
  });

  it.each(['invalid_grant', 'invalid_scope', 'unauthorized_client'])(
    'that is refused with %s is not tried again, nor by another grant (A13-10)',
    async (error) => {
      const { as, mcp, forms, options } = await setUp();
      as.routes['POST /token'] = { status: 400, json: { error } };
      const authorize = workloadIdentityAuthorizer(testContext(), { ...options, assertion: () => 'bad.jwt' });
      const need = { server: mcp.url, why: 'no_credential' as const, challenge: null };
      await expect(authorize(need)).rejects.toMatchObject({
        reason: 'token_refused',
        message: expect.stringContaining(error),
      });
      await expect(authorize(need)).rejects.toMatchObject({
        reason: 'token_refused',
        message: expect.stringContaining('not sent again'),
      });
      expect(forms()).toHaveLength(1);
      expect(as.asked()).not.toContain('GET /authorize');
    },
  );

  it('that is a new one after a refusal is tried, and so is one the server was only too busy for', async () => {
    const { as, mcp, forms, options } = await setUp();
    const jwts = ['bad.jwt', 'good.jwt', 'good.jwt'];
    const assertion = () => jwts.shift() ?? '';
    const authorize = workloadIdentityAuthorizer(testContext(), { ...options, assertion });
    const need = { server: mcp.url, why: 'rejected' as const, challenge: null };
    await expect(authorize(need)).rejects.toMatchObject({ reason: 'token_refused' });
    const token = as.routes['POST /token'];
    as.routes['POST /token'] = { status: 503, text: 'busy' };
    await expect(authorize(need)).rejects.toMatchObject({ reason: 'server_error' });
    as.routes['POST /token'] = token ?? {};
    expect((await authorize(need)).accessToken).toBe('at');
    expect(forms()).toHaveLength(3);
  });
});
