// Flows of src/authorization-server/endpoints/revocation-endpoint.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, redeem, refresh, register, tryAccess } from '../../support/oauth.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
});
afterAll(() => gatehouse.stop());

const revoke = (fields: Record<string, string>): Promise<Response> => post(`${gatehouse.url}/revoke`, fields);

async function expectDone(response: Response): Promise<void> {
  expect([response.status, await response.text()]).toEqual([200, '']);
}

describe('revocation', () => {
  it.each([
    ['a refresh token', 'refresh_token', undefined],
    ['a refresh token, hinted', 'refresh_token', 'refresh_token'],
    ['a refresh token, hinted as the other', 'refresh_token', 'access_token'],
    ['an access token', 'access_token', undefined],
    ['an access token, hinted as the other', 'access_token', 'refresh_token'],
    ['an access token, hinted as nothing known', 'access_token', 'no_such_hint'],
  ] as const)(
    'of %s ends the family and its access tokens at once (T-051, A2-07)',
    async (_what, which, hint) => {
      const { clientId, tokens } = await obtainTokens(gatehouse);
      const next = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
      await expectDone(
        await revoke({
          client_id: clientId,
          token: next[which],
          ...(hint ? { token_type_hint: hint } : {}),
        }),
      );
      expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(401);
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
      await expectRefused(await refresh(gatehouse.url, clientId, next.refresh_token), 'invalid_grant');
      await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
    },
  );

  it('of a token of another client, or of none, is answered the same and ends nothing (T-051)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const other = await register(gatehouse.url);
    for (const token of [tokens.access_token, tokens.refresh_token, 'no-such-token'])
      await expectDone(await revoke({ client_id: other.client_id, token }));
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
  });

  it('twice is as good as once (T-051)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    for (let time = 0; time < 2; time++)
      await expectDone(await revoke({ client_id: clientId, token: tokens.refresh_token }));
  });

  it('ends one grant: that of another login of the same client goes on', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const other = await obtainTokens(gatehouse, { clientId });
    await expectDone(await revoke({ client_id: clientId, token: tokens.refresh_token }));
    expect(await tryAccess(gatehouse.mcpUrl, other.tokens.access_token)).toBe(200);
  });

  it('by a confidential client needs its secret', async () => {
    const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    const secret = { client_secret: String(client.client_secret) };
    const { flow, code } = await obtainCode(gatehouse, client.client_id);
    const tokens = await expectTokens(await redeem(gatehouse.url, flow, code, secret));
    const request = { client_id: client.client_id, token: tokens.refresh_token };
    const refusal = await revoke(request);
    expect(refusal.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
    await expectRefused(refusal, 'invalid_client', 401);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    await expectDone(await revoke({ ...request, ...secret }));
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  });

  it('during a refresh leaves no token alive, whichever of the two comes first', async () => {
    for (let round = 0; round < 10; round++) {
      const { clientId, tokens } = await obtainTokens(gatehouse);
      const [refreshed] = await Promise.all([
        refresh(gatehouse.url, clientId, tokens.refresh_token),
        revoke({ client_id: clientId, token: tokens.refresh_token }).then(expectDone),
      ]);
      if (refreshed.status !== 200) {
        await expectRefused(refreshed, 'invalid_grant');
        continue;
      }
      const late = await expectTokens(refreshed);
      expect(await tryAccess(gatehouse.mcpUrl, late.access_token)).toBe(401);
      await expectRefused(await refresh(gatehouse.url, clientId, late.refresh_token), 'invalid_grant');
    }
  });

  it('without a token, or without a client, is refused', async () => {
    const { client_id: clientId } = await register(gatehouse.url);
    expect((await revoke({ client_id: clientId })).status).toBe(400);
    expect((await revoke({ token: 'x' })).status).toBe(400);
    expect((await revoke({ client_id: 'nobody', token: 'x' })).status).toBe(401);
    expect((await fetch(`${gatehouse.url}/revoke`)).status).toBe(405);
  });
});

describe('introspection', () => {
  it('is not there and not advertised (T-052)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    for (const path of ['/introspect', '/token/introspection']) {
      const response = await post(`${gatehouse.url}${path}`, {
        client_id: clientId,
        token: tokens.access_token,
      });
      expect(response.status).toBe(404);
      expect(await response.text()).not.toContain('active');
    }
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const metadata = (await (await fetch(`${gatehouse.url}/.well-known/${path}`)).json()) as object;
      expect(metadata).not.toHaveProperty('introspection_endpoint');
      expect(metadata).toHaveProperty('revocation_endpoint', `${gatehouse.url}/revoke`);
    }
  });
});
