// Flows of src/authorization-server/endpoints/token-endpoint.ts, src/authorization-server/endpoints/form-body.ts
// and src/authorization-server/endpoints/endpoint-guards.ts.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { obtainTokens, post, redeem, refresh, register } from '../../support/oauth.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

let gatehouse: RunningGatehouse;
let clientId: string;
let token: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
  clientId = (await register(gatehouse.url)).client_id;
  token = `${gatehouse.url}/token`;
});
afterAll(() => gatehouse.stop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** A body with everything a refresh needs, and a token that is not one. */
const refreshBody = (refreshToken = 'x'): string =>
  new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
  }).toString();

describe('a token request', () => {
  it.each([
    'password',
    'implicit',
    'client_credentials',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'AUTHORIZATION_CODE',
    'no such grant',
  ])('of grant type %j is unsupported (T-038, A8-10)', async (grantType) => {
    const fields = { grant_type: grantType, client_id: clientId, username: 'ada@example.com', password: 'x' };
    await expectRefused(await post(token, fields), 'unsupported_grant_type');
  });

  it.each([
    ['without a grant type', () => `client_id=${clientId}&refresh_token=x`],
    ['with the grant type twice', () => `${refreshBody()}&grant_type=refresh_token`],
    ['with two grant types', () => `${refreshBody()}&grant_type=authorization_code`],
    ['with the token twice', () => `${refreshBody()}&refresh_token=y`],
    ['with two clients', () => `${refreshBody()}&client_id=other`],
    ['without a client', () => 'grant_type=refresh_token&refresh_token=x'],
    ['without a body', () => ''],
    ['with another encoding of the form', () => '{"grant_type":"refresh_token"}'],
  ])('%s is invalid (T-038)', async (_fault, body) => {
    await expectRefused(
      await fetch(token, { method: 'POST', headers: form, body: body() }),
      'invalid_request',
    );
  });

  it.each([
    ['JSON', 'application/json'],
    ['plain text', 'text/plain'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
  ])('as %s is invalid (T-038)', async (_what, type) => {
    const { flow, code } = await obtainCode(gatehouse, clientId);
    const body = JSON.stringify({
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: flow.redirectUri,
      code_verifier: flow.verifier,
      code,
    });
    await expectRefused(
      await fetch(token, { method: 'POST', headers: { 'content-type': type }, body }),
      'invalid_request',
    );
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });

  it.each([
    ['without a type', {}, 400, 'no Content-Type'],
    ['that is compressed', { ...form, 'content-encoding': 'gzip' }, 415, 'without a Content-Encoding'],
  ])('with a body %s is told so, and uses nothing up', async (_what, headers, status, words) => {
    const { tokens, clientId: owner } = await obtainTokens(gatehouse);
    const fields = { grant_type: 'refresh_token', client_id: owner, refresh_token: tokens.refresh_token };
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const sent = { origin: 'https://inspector.example', ...(headers as Record<string, string>) };
    const response = await fetch(token, { method: 'POST', headers: sent, body });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect([response.status, await response.json()]).toEqual([
      status,
      { error: 'invalid_request', error_description: expect.stringContaining(words) },
    ]);
    await expectTokens(await refresh(gatehouse.url, owner, tokens.refresh_token));
  });

  it.each([
    ['a quoted charset', { 'content-type': 'application/x-www-form-urlencoded; charset="UTF-8"' }],
    ['a media type in capitals', { 'content-type': 'Application/X-WWW-Form-URLencoded;charset=UTF-8' }],
    ['its body in chunks', { ...form, 'transfer-encoding': 'chunked' }],
    ['a page beside it', { ...form, origin: 'https://inspector.example' }],
  ])('with %s is answered like any other', async (_what, headers) => {
    const { tokens, clientId: owner } = await obtainTokens(gatehouse);
    const fields = { grant_type: 'refresh_token', client_id: owner, refresh_token: tokens.refresh_token };
    const outgoing = request(token, { method: 'POST', headers });
    outgoing.end(new URLSearchParams(fields).toString());
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await json(answer)]).toMatchObject([200, { token_type: 'Bearer' }]);
  });

  it('with everything in the URL is invalid, and what stands in the URL besides is ignored (T-038)', async () => {
    const { tokens, clientId: owner } = await obtainTokens(gatehouse);
    const query = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: owner,
      refresh_token: tokens.refresh_token,
    });
    await expectRefused(
      await fetch(`${token}?${query}`, { method: 'POST', headers: form }),
      'invalid_request',
    );
    await expectTokens(
      await post(`${token}?grant_type=password&scope=admin&client_id=other`, Object.fromEntries(query)),
    );
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'])('by %s is answered 405 (T-038)', async (method) => {
    const response = await fetch(`${token}?${refreshBody()}`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST, OPTIONS');
    await response.text();
  });

  it.each([
    ['a megabyte', 'x'.repeat(1024 * 1024)],
    ['one byte over 56 KB', `a=${'x'.repeat(56 * 1024 - 1)}`],
  ])('of %s is too large (T-038, T-134)', async (_size, body) => {
    await expectRefused(await fetch(token, { method: 'POST', headers: form, body }), 'invalid_request', 413);
  });
});

describe('a token answer', () => {
  it('is JSON that nobody keeps, without cookies (T-039)', async () => {
    const { flow, code } = await obtainCode(gatehouse, clientId);
    const response = await redeem(gatehouse.url, flow, code);
    await expectTokens(response);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(response.headers.get('access-control-allow-origin')).not.toBe('null');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('may be read by pages of a public client, never with credentials, and not without an origin (T-039, T-114)', async () => {
    const ask = (origin: string, method: string) =>
      fetch(token, {
        method,
        headers: { ...form, origin, 'access-control-request-method': 'POST' },
        ...(method === 'POST' ? { body: refreshBody() } : {}),
      });
    for (const method of ['POST', 'OPTIONS']) {
      const open = await ask('https://inspector.example', method);
      expect(open.headers.get('access-control-allow-origin')).toBe('https://inspector.example');
      expect(open.headers.get('access-control-allow-credentials')).toBeNull();
      expect(open.headers.get('vary')).toMatch(/origin/i);
      const opaque = await ask('null', method);
      expect(opaque.status).toBe(400);
      expect(opaque.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('is not for pages of a confidential client (T-039)', async () => {
    const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    const response = await post(
      token,
      {
        grant_type: 'refresh_token',
        client_id: client.client_id,
        client_secret: String(client.client_secret),
        refresh_token: 'x',
      },
      { origin: 'https://page.example' },
    );
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    await expectRefused(response, 'invalid_request');
  });
});

describe('hostile values', () => {
  const values: [string, string][] = [
    ['SQL', "' OR '1'='1'; DROP TABLE artifacts; --"],
    ['JSON', '{"$ne":null}'],
    ['a NUL', 'a\u0000b'],
    ['10 KB', 'x'.repeat(10_240)],
    ['line ends', 'a\r\nSet-Cookie: x=1'],
    ['a path', '../../../etc/passwd'],
    ['a lone surrogate', '\ud800'],
    ['a prototype', '__proto__'],
  ];

  it.each(values)(
    '%s as code, refresh token or client are refused as unknown (T-053)',
    async (_what, value) => {
      await expectRefused(await refresh(gatehouse.url, clientId, value), 'invalid_grant');
      const code = {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: value,
        code_verifier: 'x'.repeat(43),
      };
      await expectRefused(await post(token, { ...code, redirect_uri: value }), 'invalid_grant');
      await expectRefused(await refresh(gatehouse.url, value, 'x'), 'invalid_client', 401);
    },
  );

  it.each(['code', 'refresh_token', 'client_id'])('invalid UTF-8 as %s is refused (T-053)', async (name) => {
    const fields = new URLSearchParams({
      grant_type: name === 'code' ? 'authorization_code' : 'refresh_token',
      client_id: clientId,
      redirect_uri: 'http://127.0.0.1:53682/callback',
      code_verifier: 'x'.repeat(43),
      refresh_token: 'x',
    });
    fields.delete(name);
    for (const bytes of ['%FF%FE', '%C3%28', '%ED%A0%80', '%'])
      expect(
        (await fetch(token, { method: 'POST', headers: form, body: `${fields}&${name}=${bytes}` })).status,
      ).toBe(name === 'client_id' ? 401 : 400);
  });

  it.each([
    ['a question mark', '?'],
    ['a byte order mark', '\ufeff'],
  ])(
    'with %s in front of its form has no grant type, however good the rest is (T-038)',
    async (_what, odd) => {
      const { tokens } = await obtainTokens(gatehouse, { clientId });
      const body = refreshBody(tokens.refresh_token);
      const ask = (text: string) => fetch(token, { method: 'POST', headers: form, body: text });
      await expectRefused(await ask(`${odd}${body}`), 'invalid_request');
      await expectTokens(await ask(body));
    },
  );

  it('ten thousand parameters are refused, also behind a request that would be good (T-054)', async () => {
    const { tokens, clientId: owner } = await obtainTokens(gatehouse);
    const good = `grant_type=refresh_token&client_id=${owner}&refresh_token=${tokens.refresh_token}`;
    const before = await countIssued(gatehouse.folder);
    for (const body of [`${good}${'&a='.repeat(10_000)}`, `${'a=&'.repeat(10_000)}${good}`])
      await expectRefused(await fetch(token, { method: 'POST', headers: form, body }), 'invalid_request');
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it.each([
    '__proto__=1',
    '__proto__[x]=1',
    'constructor[prototype][x]=1',
    'grant_type[x]=1',
    'a[b][c]=',
    'grant_type.__proto__.x=1',
  ])('%s pollutes nothing and is no other parameter (T-054)', async (pair) => {
    await expectRefused(
      await fetch(token, { method: 'POST', headers: form, body: `${refreshBody()}&${pair}` }),
      'invalid_grant',
    );
    await expectRefused(
      await fetch(token, { method: 'POST', headers: form, body: `client_id=${clientId}&${pair}` }),
      'invalid_request',
    );
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
