// Flows of src/authorization-server/endpoints/endpoint-guards.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payloadContext } from '../../../src/authorization-server/engine/stored-rows.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post, redeem, register } from '../../support/oauth.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

// Over src/authorization-server/engine/engine.ts.

type Fields = Record<string, string>;

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
});
afterAll(() => gatehouse.stop());

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

async function confidential(method: string): Promise<{ id: string; secret: string }> {
  const client = await register(gatehouse.url, { token_endpoint_auth_method: method });
  return { id: client.client_id, secret: String(client.client_secret) };
}

/** A refresh with a token nobody has: `invalid_grant` says that the client was let in. */
function attempt(fields: Fields, headers: Fields = {}): Promise<Response> {
  return post(
    `${gatehouse.url}/token`,
    { grant_type: 'refresh_token', refresh_token: 'x', ...fields },
    headers,
  );
}

async function expectUnknown(response: Response): Promise<void> {
  expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
  await expectRefused(response, 'invalid_client', 401);
}

describe('a client', () => {
  it.each(['none', 'client_secret_basic', 'client_secret_post'])(
    'that registered with %s redeems with it (A5-02)',
    async (method) => {
      const client = await register(gatehouse.url, { token_endpoint_auth_method: method });
      expect(client.token_endpoint_auth_method).toBe(method);
      expect(typeof client.client_secret).toBe(method === 'none' ? 'undefined' : 'string');
      const { flow, code } = await obtainCode(gatehouse, client.client_id);
      const secret = String(client.client_secret);
      const response =
        method === 'client_secret_basic'
          ? await post(
              `${gatehouse.url}/token`,
              {
                grant_type: 'authorization_code',
                code,
                redirect_uri: flow.redirectUri,
                code_verifier: flow.verifier,
              },
              basic(client.client_id, secret),
            )
          : await redeem(gatehouse.url, flow, code, method === 'none' ? {} : { client_secret: secret });
      await expectTokens(response);
    },
  );

  it('with a secret sends it as it registered, and is told so if it sends the right one otherwise (T-047)', async () => {
    const sendings = {
      client_secret_basic: (id: string, secret: string) => attempt({}, basic(id, secret)),
      client_secret_post: (id: string, secret: string) => attempt({ client_id: id, client_secret: secret }),
    };
    for (const [method, send] of Object.entries(sendings)) {
      const [other = send] = Object.values(sendings).filter((entry) => entry !== send);
      const { id, secret } = await confidential(method);
      await expectRefused(await send(id, secret), 'invalid_grant');
      const refused = await other(id, secret);
      expect(await refused.clone().json()).toMatchObject({
        error_description: `this client is registered for ${method}, and has to send its secret so`,
      });
      await expectUnknown(refused);
      expect(await (await other(id, `${secret}x`)).json()).toMatchObject({
        error_description: 'client authentication failed',
      });
    }
  });
});

describe('client authentication', () => {
  it('refuses a public client that sends a secret, and a confidential one that sends none (T-047)', async () => {
    const open = await register(gatehouse.url);
    await expectUnknown(await attempt({ client_id: open.client_id, client_secret: 'anything' }));
    await expectUnknown(await attempt({}, basic(open.client_id, 'anything')));
    const { id } = await confidential('client_secret_basic');
    await expectUnknown(await attempt({ client_id: id }));
  });

  it('refuses a wrong secret, an empty one and one of another client (T-047)', async () => {
    const { id, secret } = await confidential('client_secret_basic');
    const other = await confidential('client_secret_basic');
    for (const wrong of [secret.slice(1), `${secret}x`, secret.toUpperCase(), other.secret])
      await expectUnknown(await attempt({}, basic(id, wrong)));
    await expectUnknown(await attempt({ client_id: id, client_secret: '' }));
    await expectUnknown(await attempt({}, basic(id, '')));
  });

  it('refuses two ways at once, and two clients at once (T-047)', async () => {
    const { id, secret } = await confidential('client_secret_basic');
    await expectRefused(
      await attempt({ client_id: id, client_secret: secret }, basic(id, secret)),
      'invalid_request',
    );
    const other = await register(gatehouse.url);
    await expectRefused(await attempt({ client_id: other.client_id }, basic(id, secret)), 'invalid_request');
  });

  it('reads Basic strictly: base64 as it should be, one colon, one space (T-047)', async () => {
    const { id, secret } = await confidential('client_secret_basic');
    const right = Buffer.from(`${id}:${secret}`).toString('base64').replace(/=+$/, '');
    const headers = [
      'Basic',
      'Basic ',
      'Basic ***',
      `Basic ${right}*`,
      `Basic ${right.slice(0, 40)} ${right.slice(40)}`,
      `Basic  ${right}`,
      `Basic ${right}=====`,
      `Basic ${Buffer.from(id).toString('base64')}`,
      `Basic ${Buffer.from(`${id}:%`).toString('base64')}`,
      `Bearer ${right}`,
      `Digest ${right}`,
    ];
    for (const authorization of headers) {
      const response = await attempt({}, { authorization });
      expect([400, 401], authorization).toContain(response.status);
      expect((await response.json()) as object).toMatchObject({
        error: expect.stringMatching(/^invalid_(request|client)$/),
      });
    }
  });

  it('refuses a secret that has expired (T-050)', async () => {
    const { id, secret } = await confidential('client_secret_post');
    await expectRefused(await attempt({ client_id: id, client_secret: secret }), 'invalid_grant');
    const box = createSealedBox(gatehouse.keys.sealing);
    const row = await gatehouse.storage.clients.find(id);
    if (!row) throw new Error('the client is gone');
    const metadata = JSON.parse(box.open(row.payload, payloadContext('Client', id))) as object;
    const expired = JSON.stringify({
      ...metadata,
      client_secret_expires_at: Math.floor(Date.now() / 1000) - 3600,
    });
    await gatehouse.storage.clients.put({ ...row, payload: box.seal(expired, payloadContext('Client', id)) });
    await expectRefused(await attempt({ client_id: id, client_secret: secret }), 'invalid_client');
  });
});
