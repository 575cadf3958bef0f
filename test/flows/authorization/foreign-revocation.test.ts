import { expect, it } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, register, tryAccess } from '../../support/oauth.ts';

it.each(['none', 'client_secret_post'])(
  'a client that authenticates with %s revokes its own tokens alone: for those of others 200 without effect (T-051)',
  async (method) => {
    const gatehouse = await startGatehouse();
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const other = await register(gatehouse.url, { token_endpoint_auth_method: method });
    const credentials: Record<string, string> =
      method === 'none'
        ? { client_id: other.client_id }
        : { client_id: other.client_id, client_secret: String(other.client_secret) };
    for (const token of [tokens.access_token, tokens.refresh_token, 'unknown']) {
      const response = await post(`${gatehouse.url}/revoke`, { ...credentials, token });
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    const own = await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: tokens.access_token });
    expect(own.status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    await gatehouse.stop();
  },
);
