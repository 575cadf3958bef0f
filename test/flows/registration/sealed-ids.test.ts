import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  obtainTokens,
  post,
  refresh,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { postRegistration } from '../../support/registration.ts';
import { isLong } from '../../support/share.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/registration/sealed-client-ids.ts.

const limits = { registrations: { times: 20_000 } };
let gatehouse: RunningGatehouse;
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-sealed-'));
beforeAll(async () => {
  gatehouse = await startGatehouse({ folder, clients: { sealedIds: true }, limits });
});
afterAll(async () => {
  await gatehouse.stop();
  rmSync(folder, { recursive: true, force: true });
});

const registrations = isLong ? 10_000 : 1000;

describe('with sealed ids', () => {
  it(`${registrations} registrations add no row (T-061)`, async () => {
    const before = await countIssued(folder);
    for (let batch = 0; batch < registrations / 100; batch++)
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const response = await postRegistration(gatehouse.url);
          expect(response.status).toBe(201);
          await response.body?.cancel();
        }),
      );
    expect(await countIssued(folder)).toEqual(before);
  }, 240_000);

  it('a client works from registration to refresh, and is stored by its first consent', async () => {
    const client = await register(gatehouse.url);
    expect(client.client_id).toMatch(/^sealed_[\w-]{100,600}$/);
    expect(client).not.toHaveProperty('registration_access_token');
    expect(await gatehouse.storage.clients.find(client.client_id)).toBeUndefined();
    const { tokens } = await obtainTokens(gatehouse, { clientId: client.client_id });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    expect(await gatehouse.storage.clients.find(client.client_id)).toMatchObject({ status: 'approved' });
    expect((await refresh(gatehouse.url, client.client_id, tokens.refresh_token)).status).toBe(200);
  });

  it.each(['client_secret_basic', 'client_secret_post'])(
    'a client that authenticates by %s has a secret that nobody stored, and no other will do (T-047)',
    async (method) => {
      const client = await register(gatehouse.url, { token_endpoint_auth_method: method });
      const { client_id: id, client_secret: secret } = client;
      const attempt = async (tried: string) => {
        const code = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://a.example' };
        const basic = { authorization: `Basic ${btoa(`${id}:${tried}`)}` };
        const response =
          method === 'client_secret_basic'
            ? await post(`${gatehouse.url}/token`, code, basic)
            : await post(`${gatehouse.url}/token`, { ...code, client_id: id, client_secret: tried });
        return ((await response.json()) as { error: string }).error;
      };
      expect(await attempt(String(secret))).toBe('invalid_grant');
      expect(await attempt('another')).toBe('invalid_client');
    },
  );

  it('an id that was changed, cut or made elsewhere is unknown like any other (T-004)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const changed = `${id.slice(0, -5)}${id.at(-5) === 'A' ? 'B' : 'A'}${id.slice(-4)}`;
    for (const forged of [changed, id.slice(0, -8), 'sealed_', 'sealed_AAAA']) {
      await expectErrorPage(
        await createVisitor().request(authorization(gatehouse, forged).url),
        'invalid_client',
      );
      expect((await refresh(gatehouse.url, forged, 'x')).status).toBe(401);
    }
  });

  it('an id that was removed stays removed, before its first consent and after (T-066)', async () => {
    const fresh = await register(gatehouse.url);
    const used = await register(gatehouse.url);
    const { tokens } = await obtainTokens(gatehouse, { clientId: used.client_id });
    for (const { client_id: id } of [fresh, used]) {
      await gatehouse.administration.clients.remove(id);
      for (const spelling of [id, `${id}.`, `${id}=`])
        await expectErrorPage(
          await createVisitor().request(authorization(gatehouse, spelling).url),
          'invalid_client',
        );
    }
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  });

  it('metadata too long for an id is refused, and says what to do', async () => {
    const redirect_uris = Array.from(
      { length: 10 },
      (_, at) => `https://app.example/${at}${'x'.repeat(200)}`,
    );
    const response = await postRegistration(gatehouse.url, { redirect_uris });
    expect(await response.json()).toMatchObject({
      error: 'invalid_client_metadata',
      error_description: expect.stringContaining('register fewer or shorter redirect_uris'),
    });
  });

  it('an id outlives a restart', async () => {
    const { client_id: id } = await register(gatehouse.url);
    const port = Number(new URL(gatehouse.url).port);
    await gatehouse.stop();
    gatehouse = await startGatehouse({ folder, port, clients: { sealedIds: true }, limits });
    await fetch(`${gatehouse.url}/healthz`).catch(() => undefined);
    expect((await approve(authorization(gatehouse, id))).searchParams.get('code')).not.toBeNull();
  });
});
