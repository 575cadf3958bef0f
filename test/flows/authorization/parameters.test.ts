import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, redeem, register, type Tokens } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import { expectAccepted, expectErrorPage, shownCode } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/server.ts and the engine as src/authorization-server/engine/configuration.ts sets it up.

let gatehouse: RunningGatehouse;
let client: string;
let bait: Server;
let baitUrl: string;
const caught: string[] = [];
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
  bait = createServer((request, response) => {
    caught.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => bait.listen(0, '127.0.0.1', resolve));
  baitUrl = `http://127.0.0.1:${(bait.address() as AddressInfo).port}/object.jwt`;
});
afterAll(async () => {
  bait.close();
  await gatehouse.stop();
});

function ask(parameters: Record<string, string | undefined>): Promise<Response> {
  return createVisitor().request(authorization(gatehouse, client, parameters).url);
}

async function metadata(): Promise<Record<string, unknown>> {
  return (await (await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`)).json()) as Record<
    string,
    unknown
  >;
}

describe('request objects', () => {
  it('are refused by reference, and nothing is fetched (T-021)', async () => {
    for (const uri of [
      baitUrl,
      'http://127.0.0.1:6379/',
      'data:application/jwt,eyJhbGciOiJub25lIn0..',
      'file:///etc/passwd',
    ])
      await expectErrorPage(await ask({ request_uri: uri }), 'request_uri_not_supported');
    expect(caught).toEqual([]);
  });

  it('are refused by value, and nothing in them counts or is fetched (T-021)', async () => {
    const inner = Buffer.from(JSON.stringify({ scope: 'admin', redirect_uri: baitUrl })).toString(
      'base64url',
    );
    for (const request of [`eyJhbGciOiJub25lIn0.${inner}.`, baitUrl, 'x'])
      await expectErrorPage(await ask({ request }), 'request_not_supported');
    expect(caught).toEqual([]);
  });

  it('are not advertised (T-021)', async () => {
    const document = await metadata();
    expect(document.request_uri_parameter_supported).toBe(false);
    expect(document.request_parameter_supported ?? false).toBe(false);
    expect(document).not.toHaveProperty('request_object_signing_alg_values_supported');
  });
});

describe('what is off', () => {
  it.each([
    ['user info', ['/me', '/userinfo'], 'userinfo_endpoint'],
    ['introspection', ['/introspect', '/token/introspection'], 'introspection_endpoint'],
  ])('%s has no endpoint and no line in the metadata', async (_what, places, member) => {
    expect(await metadata()).not.toHaveProperty(member);
    for (const place of places) {
      for (const method of ['GET', 'POST'])
        expect((await fetch(`${gatehouse.url}${place}`, { method })).status).toBe(404);
    }
  });
});

describe('optional parameters', () => {
  const deep = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
  const cases: [string, Record<string, string>][] = [
    ['claims that are no JSON', { claims: '{"userinfo":' }],
    [
      'claims with __proto__',
      { claims: '{"__proto__":{"polluted":1},"id_token":{"__proto__":{"polluted":1}}}' },
    ],
    ['claims in 500 levels', { claims: deep }],
    ['claims of wrong shapes', { claims: '{"id_token":[1,2,3],"userinfo":"x"}' }],
    ['5 KB of acr_values', { acr_values: 'a '.repeat(2500) }],
    ['5 KB of ui_locales', { ui_locales: 'de '.repeat(1700) }],
    ['5 KB of login_hint', { login_hint: '"><script>'.repeat(500) }],
    ['a hostile id_token_hint', { id_token_hint: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['__proto__ as a parameter', JSON.parse('{"__proto__":"1","constructor[prototype][polluted]":"1"}')],
  ];

  it.each(cases)('like %s are refused or ignored, at once (T-022)', async (_what, parameters) => {
    for (const scope of ['notes:read', 'openid notes:read']) {
      const began = performance.now();
      const response = await ask({ scope, ...parameters });
      const took = performance.now() - began;
      const html = await response.text();
      const shown = shownCode(html);
      expect([response.status, shown]).toEqual(
        response.status === 400 ? [400, 'invalid_request'] : [303, undefined],
      );
      expect(took).toBeLessThan(patience(500));
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each(['claims', 'ui_locales', 'login_hint', 'acr_values', 'state', 'nonsense'])(
    'of 100 KB are refused before anything reads them: %s (T-022)',
    async (name) => {
      const response = await ask({ [name]: 'x'.repeat(100_000) });
      expect([400, 414, 431]).toContain(response.status);
      expect(response.headers.get('location')).toBeNull();
      expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
    },
  );

  it('shows a login_hint as text, or not at all (T-022)', async () => {
    const hint = '"><script>alert(1)</script>';
    const { html } = await createVisitor().open(authorization(gatehouse, client, { login_hint: hint }).url);
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('&lt;script&gt;alert(1)');
  });
});

describe('scope', () => {
  async function granted(scope: string | undefined, ticked: string[]): Promise<string> {
    const flow = authorization(gatehouse, client, { scope });
    const code = (await approve(flow, { scopes: ticked })).searchParams.get('code') ?? '';
    return ((await (await redeem(gatehouse.url, flow, code)).json()) as Tokens).scope;
  }

  it.each(['admin', 'notes:admin', '*', 'NOTES:READ', 'openid2'])(
    'that exists nowhere is invalid_scope: %s (T-024)',
    async (scope) => {
      const before = await countIssued(gatehouse.folder);
      await expectErrorPage(await ask({ scope }), 'invalid_scope');
      expect(await countIssued(gatehouse.folder)).toEqual(before);
    },
  );

  it.each(['notes:read "admin"', 'notes:read\\admin', 'notes:read\u0000', 'notes:read\tadmin', 'notes:réad'])(
    'with illegal characters is invalid_scope: %j (T-024, A8-02)',
    async (scope) => {
      await expectErrorPage(await ask({ scope }), 'invalid_scope');
    },
  );

  it('of 5,000 names is refused (T-024)', async () => {
    const response = await ask({ scope: Array.from({ length: 5000 }, (_, index) => `s${index}`).join(' ') });
    expect([400, 414, 431]).toContain(response.status);
    expect(response.headers.get('location')).toBeNull();
  });

  it('is granted as far as it exists and was ticked, and the token says so (T-024)', async () => {
    expect(await granted('notes:read admin', ['notes:read', 'admin'])).toBe('notes:read');
    expect(await granted('notes:read', ['notes:read', 'notes:write'])).toBe('notes:read');
    expect(await granted('notes:read notes:write', ['notes:write'])).toBe('notes:write');
  });

  it('is the baseline where the client names none, or only offline_access', async () => {
    expect(await granted(undefined, ['notes:read', 'notes:write'])).toBe('notes:read notes:write');
    expect(await granted('', ['notes:read', 'notes:write'])).toBe('notes:read notes:write');
    expect(await granted('offline_access', ['notes:read', 'notes:write'])).toBe('notes:read notes:write');
  });

  it('sent twice is invalid_request (T-024)', async () => {
    const { url } = authorization(gatehouse, client);
    await expectErrorPage(await createVisitor().request(`${url}&scope=admin`), 'invalid_request');
  });

  it.each([undefined, 'notes:read'])(
    'of which nothing was ticked gives no code, and leaves no grant (%s; T-024)',
    async (scope) => {
      const { client_id: own } = await register(gatehouse.url);
      const callback = await approve(authorization(gatehouse, own, scope === undefined ? {} : { scope }), {
        scopes: [],
      });
      expect(callback.searchParams.get('error')).toBe('access_denied');
      expect(callback.searchParams.get('error_description')).toBe('the person did not give access');
      expect(callback.searchParams.has('code')).toBe(false);
      const events = await gatehouse.storage.audit.read({ event: 'consent.', clientId: own, limit: 9 });
      expect(events.map(({ event }) => event)).toEqual(['consent.denied']);
      expect(await gatehouse.administration.grants.list({ clientId: own })).toEqual([]);
    },
  );
});

describe('an app that asks for more than scopes of the server', () => {
  it('may go on with nothing ticked, for the tools that need none', async () => {
    const flow = authorization(gatehouse, client, { scope: 'notes:read offline_access', prompt: 'consent' });
    expect((await approve(flow, { scopes: [] })).searchParams.get('code')).toBeTruthy();
  });
});

describe('the authorization endpoint', () => {
  it('takes GET alone, and answers HEAD like GET', async () => {
    const { url } = authorization(gatehouse, client);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await createVisitor().request(url, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    }
    expectAccepted(await createVisitor().request(url, { method: 'HEAD' }), gatehouse.url);
  });

  it('answers a malformed request with 400 (A8-02)', async () => {
    await expectErrorPage(await createVisitor().request(`${gatehouse.url}/authorize`), 'invalid_request');
    await expectErrorPage(
      await createVisitor().request(`${gatehouse.url}/authorize?%ZZ&&=`),
      'invalid_request',
    );
  });
});
