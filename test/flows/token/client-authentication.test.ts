import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportSPKI, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { payloadContext } from '../../../src/authorization-server/engine/adapter.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post, redeem, register } from '../../support/oauth.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

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

  it('with a secret may send it in the header or in the body, whichever it registered (A5-02)', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      const { id, secret } = await confidential(method);
      await expectRefused(await attempt({}, basic(id, secret)), 'invalid_grant');
      await expectRefused(await attempt({ client_id: id, client_secret: secret }), 'invalid_grant');
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
    await expectRefused(await attempt({}, basic(id, '')), 'invalid_request');
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

describe('a client assertion', () => {
  const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

  /** A server that counts who asks it for keys. */
  async function startCanary(): Promise<{ url: string; visits: () => number }> {
    let visits = 0;
    const server = createServer((_request, response) => {
      visits++;
      response.end('{"keys":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, visits: () => visits };
  }

  it('is refused in whatever form, from any client, and no URL in it is asked for anything (T-049, T-050)', async () => {
    const canary = await startCanary();
    const { id, secret } = await confidential('client_secret_basic');
    const open = (await register(gatehouse.url)).client_id;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: id, sub: id, aud: gatehouse.url, jti: 'j', exp: now + 60 };
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const sign = (header: object, payload: object): Promise<string> =>
      new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES256', ...header }).sign(privateKey);
    const hmac = (key: string): Promise<string> =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(key));
    const jwk = publicKey.export({ format: 'jwk' });
    const assertions = await Promise.all([
      sign({}, claims),
      `${encode({ alg: 'none' })}.${encode(claims)}.`,
      hmac(await exportSPKI(publicKey)),
      hmac(secret),
      ...['../../dev/null', "' OR 1=1 --", canary.url].map((kid) => sign({ kid }, claims)),
      sign({ jku: canary.url }, claims),
      sign({ x5u: canary.url }, claims),
      sign({ jwk }, claims),
      sign({}, { ...claims, aud: 'https://elsewhere.example' }),
      sign({}, { ...claims, exp: undefined }),
      sign({}, { ...claims, exp: now + 315_360_000 }),
      'not.a.jwt',
      '',
    ]);
    for (const assertion of assertions) {
      const fields = { client_assertion_type: assertionType, client_assertion: assertion };
      for (const extra of [{}, { client_id: id }, { client_id: open }] as Fields[]) {
        const response = await attempt({ ...fields, ...extra });
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ error: 'invalid_client' });
      }
    }
    const replays = await Promise.all(
      Array.from({ length: 10 }, () =>
        attempt({
          client_assertion_type: assertionType,
          client_assertion: assertions[0] ?? '',
          client_id: id,
        }),
      ),
    );
    expect(replays.every(({ status }) => status === 401)).toBe(true);
    expect(canary.visits()).toBe(0);
  });

  it('cannot be registered for, and is not advertised (T-049)', async () => {
    for (const method of ['private_key_jwt', 'client_secret_jwt', 'tls_client_auth'])
      await expect(register(gatehouse.url, { token_endpoint_auth_method: method })).rejects.toThrow(/400/);
    const metadata = (await (
      await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`)
    ).json()) as Record<string, string[]>;
    expect(metadata.token_endpoint_auth_methods_supported?.toSorted()).toEqual([
      'client_secret_basic',
      'client_secret_post',
      'none',
    ]);
  });
});
