import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, exportSPKI, importJWK, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { privateKeyAlgorithms } from '../../../src/oauth/signature-algorithms.ts';
import { asserting, assertionType, type ClientKey, createClientKey } from '../../support/client-keys.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post, refresh, register, tryAccess } from '../../support/oauth.ts';
import { countStatuses, expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

// Over src/authorization-server/endpoints/client-assertion.ts, src/authorization-server/engine/client-adapter.ts,
// src/authorization-server/client-keys/client-keys.ts and src/authorization-server/client-keys/key-set.ts.

let gatehouse: RunningGatehouse;
let key: ClientKey;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
  key = await createClientKey('ES256', 'k1');
});
afterAll(() => gatehouse.stop());

async function registered(keys = [key.jwk]): Promise<string> {
  const client = await register(gatehouse.url, {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys },
  });
  expect(client.token_endpoint_auth_method).toBe('private_key_jwt');
  expect(client).not.toHaveProperty('client_secret');
  return client.client_id;
}

const sign = (id: string, claims?: JWTPayload, header?: Record<string, unknown>): Promise<string> =>
  key.sign(id, gatehouse.url, claims, header);

/** A refresh with a token nobody has: `invalid_grant` says that the client was let in. */
function attempt(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  return post(
    `${gatehouse.url}/token`,
    { grant_type: 'refresh_token', refresh_token: 'x', ...fields },
    headers,
  );
}

async function expectUnknown(response: Response, description?: RegExp): Promise<void> {
  expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
  if (description)
    expect((await response.clone().json()) as object).toMatchObject({
      error_description: expect.stringMatching(description),
    });
  await expectRefused(response, 'invalid_client', 401);
}

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

describe('a client with a key', () => {
  it('redeems, refreshes and revokes with assertions (A13-02, A5-07)', async () => {
    const id = await registered();
    const { flow, code } = await obtainCode(gatehouse, id);
    const tokens = await expectTokens(
      await post(`${gatehouse.url}/token`, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: flow.redirectUri,
        code_verifier: flow.verifier,
        ...asserting(await sign(id)),
      }),
    );
    const next = await expectTokens(
      await refresh(gatehouse.url, id, tokens.refresh_token, asserting(await sign(id))),
    );
    expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(200);
    const revoked = await post(`${gatehouse.url}/revoke`, {
      token: next.refresh_token,
      ...asserting(await sign(id)),
    });
    expect(revoked.status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(401);
  });

  it.each(privateKeyAlgorithms.filter((alg) => !/Ed|ES256/.test(alg)).concat('EdDSA', 'Ed25519'))(
    'may sign with %s (A13-03)',
    async (alg) => {
      const other = await createClientKey(alg);
      const id = await registered([other.jwk]);
      const assertion = await other.sign(id, gatehouse.url);
      await expectRefused(await attempt(asserting(assertion)), 'invalid_grant');
    },
  );

  it('may have several, with or without names', async () => {
    const unnamed = await createClientKey();
    const id = await registered([key.jwk, unnamed.jwk]);
    await expectRefused(await attempt(asserting(await unnamed.sign(id, gatehouse.url))), 'invalid_grant');
    await expectRefused(await attempt(asserting(await sign(id))), 'invalid_grant');
  });

  it('is not let in without an assertion, by a secret, or by two ways at once (T-047)', async () => {
    const id = await registered();
    await expectUnknown(await attempt({ client_id: id }));
    await expectUnknown(await attempt({ client_id: id, client_secret: 'x' }));
    const authorization = `Basic ${Buffer.from(`${id}:x`).toString('base64')}`;
    await expectUnknown(await attempt({}, { authorization }));
    const both = { ...asserting(await sign(id)), client_secret: 'x' };
    await expectRefused(await attempt(both), 'invalid_request');
    await expectRefused(await attempt(asserting(await sign(id)), { authorization }), 'invalid_request');
    const twice: [string, string][] = [
      ['grant_type', 'refresh_token'],
      ['refresh_token', 'x'],
      ['client_assertion_type', assertionType],
      ['client_assertion', await sign(id)],
      ['client_assertion', await sign(id)],
    ];
    await expectRefused(await post(`${gatehouse.url}/token`, twice), 'invalid_request');
    await expectRefused(await attempt({ client_assertion: await sign(id) }), 'invalid_request');
  });
});

describe('a client assertion', () => {
  const now = Math.floor(Date.now() / 1000);

  it.each<[string, JWTPayload, Record<string, unknown>, RegExp]>([
    ['is of another issuer than subject', { iss: 'someone' }, {}, /one and the same iss and sub/],
    ['has no issuer', { iss: undefined }, {}, /has no iss/],
    ['is meant for somebody else', { aud: 'https://elsewhere.example' }, {}, /must be meant for/],
    ['is meant for others, too', { aud: ['https://elsewhere.example', 'ours'] }, {}, /must be meant for/],
    ['is meant for the token endpoint', { aud: 'ours/token' }, {}, /must be meant for/],
    ['is meant for nobody', { aud: undefined }, {}, /must be meant for/],
    ['never ends', { exp: undefined }, {}, /has no exp/],
    ['ends in ten years', { exp: now + 315_360_000 }, {}, /must not live longer/],
    ['has ended', { exp: now - 60 }, {}, /has expired/],
    ['has not begun', { nbf: now + 300 }, {}, /from the future/],
    ['was made in the future', { iat: now + 300 }, {}, /from the future/],
    [
      'was made ten years ago (FA-16, T-216)',
      { iat: now - 315_360_000 },
      {},
      /issued more than 600 seconds ago/,
    ],
    ['was made an hour ago (FA-16, T-216)', { iat: now - 3_600 }, {}, /issued more than 600 seconds ago/],
    ['is of a type that is a list (FA-15, T-215)', {}, { typ: ['JWT'] }, /of another type/],
    ['has no id', { jti: undefined }, {}, /needs a jti/],
    ['has an id without end', { jti: 'j'.repeat(257) }, {}, /needs a jti/],
    ['is an access token', {}, { typ: 'at+jwt' }, /of another type/],
    ['is a proof of possession', {}, { typ: 'dpop+jwt' }, /of another type/],
    ['is longer than any', { more: 'm'.repeat(9_000) }, {}, /at most 8192 characters/],
  ])(
    'that %s is refused, with a sentence that says so (T-049)',
    async (_what, claims, header, description) => {
      const id = await registered();
      const ours = (aud: unknown) => String(aud).replace('ours', gatehouse.url);
      const whole =
        'aud' in claims && claims.aud !== undefined
          ? { ...claims, aud: Array.isArray(claims.aud) ? claims.aud.map(ours) : ours(claims.aud) }
          : claims;
      await expectUnknown(await attempt(asserting(await sign(id, whole, header))), description);
    },
  );

  it('is taken for the issuer alone, also as the only one of a list (A13-02)', async () => {
    const id = await registered();
    await expectRefused(await attempt(asserting(await sign(id, { aud: [gatehouse.url] }))), 'invalid_grant');
  });

  it('is refused without a signature, or with one that anybody could make (T-049)', async () => {
    const id = await registered();
    const claims = { iss: id, sub: id, aud: gatehouse.url, jti: 'j', exp: now + 60 };
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const hmac = (alg: string, secret: string): Promise<string> =>
      new SignJWT(claims).setProtectedHeader({ alg }).sign(Buffer.from(secret));
    const pem = await exportSPKI((await importJWK(key.jwk, 'ES256', { extractable: true })) as CryptoKey);
    const [header = '', payload = '', signature = ''] = (await sign(id)).split('.');
    for (const assertion of [
      `${encode({ alg: 'none' })}.${encode(claims)}.`,
      `${encode({ alg: 'NONE' })}.${encode(claims)}.`,
      `${encode({ alg: 'ES256' })}.${encode(claims)}.`,
      await hmac('HS256', pem),
      await hmac('HS512', JSON.stringify(key.jwk)),
      await (await createClientKey('ES256', 'k1')).sign(id, gatehouse.url),
      await (await createClientKey('RS256', 'k1')).sign(id, gatehouse.url),
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header}.${encode({ ...claims, jti: 'other' })}.${signature}`,
      'not.a.jwt',
      'x',
      '',
    ])
      await expectUnknown(await attempt(asserting(assertion)));
  });

  it('names its key among those that are registered: no path, no query, no URL and no key of its own (T-049)', async () => {
    const canary = await startCanary();
    const id = await registered();
    const attacker = await createClientKey();
    for (const kid of [
      '../../../../dev/null',
      "' UNION SELECT 'key' --",
      canary.url,
      'k'.repeat(5_000),
      'k2',
    ])
      await expectUnknown(await attempt(asserting(await sign(id, {}, { kid }))));
    const own = await exportJWK(attacker.privateKey);
    for (const header of [
      { jku: canary.url },
      { x5u: canary.url },
      { x5c: ['MIIB'] },
      { jwk: { kty: own.kty, crv: own.crv, x: own.x, y: own.y } },
      { jku: `${gatehouse.url}/jwks` },
    ]) {
      const assertion = await attacker.sign(id, gatehouse.url, {}, header);
      await expectUnknown(await attempt(asserting(assertion)), /must not bring or point to keys/);
    }
    expect(canary.visits()).toBe(0);
  });

  it('counts once: a second time it is refused, whatever the first one came to (T-049)', async () => {
    const id = await registered();
    const assertion = await sign(id);
    await expectRefused(await attempt(asserting(assertion)), 'invalid_grant');
    await expectUnknown(await attempt(asserting(assertion)));
    const revocation = { token: 'x', ...asserting(assertion) };
    await expectUnknown(await post(`${gatehouse.url}/revoke`, revocation));
    const other = await registered();
    const jti = 'shared by two clients';
    for (const client of [id, other])
      await expectRefused(await attempt(asserting(await sign(client, { jti }))), 'invalid_grant');
  });

  it('counts once among twenty that come together, at the token endpoint and for revocation (T-049)', async () => {
    const id = await registered();
    const { flow, code } = await obtainCode(gatehouse, id);
    const redemption = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: flow.redirectUri,
      code_verifier: flow.verifier,
    };
    const refusals = asserting(await sign(id));
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(refusals)));
    expect(countStatuses(answers)).toEqual({ 400: 1, 401: 19 });
    const revocation = { token: 'x', ...asserting(await sign(id)) };
    const revoked = await Promise.all(
      Array.from({ length: 20 }, () => post(`${gatehouse.url}/revoke`, revocation)),
    );
    expect(countStatuses(revoked)).toEqual({ 200: 1, 401: 19 });
    const redeemed = { ...redemption, ...asserting(await sign(id)) };
    const given = await Promise.all(
      Array.from({ length: 20 }, () => post(`${gatehouse.url}/token`, redeemed)),
    );
    expect(given.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(given.filter(({ status }) => status === 401).length).toBe(19);
  });

  it('of a public client, or of one with a secret, is refused (T-050)', async () => {
    const open = await register(gatehouse.url);
    const secret = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    for (const { client_id: id } of [open, secret]) {
      await expectUnknown(await attempt(asserting(await sign(id))));
      await expectUnknown(await attempt({ client_id: id, ...asserting(await sign(id)) }));
      const hmac = new SignJWT({ iss: id, sub: id, aud: gatehouse.url, jti: 'j', exp: now + 60 })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(String(secret.client_secret)));
      await expectUnknown(await attempt({ client_id: id, ...asserting(await hmac) }), /must be signed with/);
    }
    await expectUnknown(
      await attempt({ client_id: open.client_id, ...asserting(await sign(await registered())) }),
    );
    await expectUnknown(await attempt(asserting(await sign('client_nobody'))));
  });
});

describe('the metadata', () => {
  it.each(['oauth-authorization-server', 'openid-configuration'])(
    'of %s says how clients authenticate, at each endpoint where they do (A13-03)',
    async (document) => {
      const metadata = await (await fetch(`${gatehouse.url}/.well-known/${document}`)).json();
      const methods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
      expect(metadata).toMatchObject({
        token_endpoint_auth_methods_supported: methods,
        token_endpoint_auth_signing_alg_values_supported: [...privateKeyAlgorithms],
        revocation_endpoint_auth_methods_supported: methods,
        revocation_endpoint_auth_signing_alg_values_supported: [...privateKeyAlgorithms],
      });
    },
  );
});
