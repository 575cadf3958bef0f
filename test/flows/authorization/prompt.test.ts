import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, openConsent, redeem, redirectUri, register } from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

// What each request has to ask is decided in src/authorization-server/engine/configuration.ts.

let gatehouse: RunningGatehouse;
let native: string;
let web: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  native = (await register(gatehouse.url)).client_id;
  web = (await register(gatehouse.url, { redirect_uris: ['https://app.example.com/cb'] })).client_id;
});
afterAll(() => gatehouse.stop());

function kinds(): [string, { client: string; redirect_uri: string }][] {
  return [
    ['native', { client: native, redirect_uri: redirectUri }],
    ['web', { client: web, redirect_uri: 'https://app.example.com/cb' }],
  ];
}

async function expectCallbackError(response: Response, error: string): Promise<void> {
  expect(response.status).toBe(303);
  const callback = new URL(response.headers.get('location') ?? '');
  expect(callback.searchParams.get('error')).toBe(error);
  expect(callback.searchParams.has('code')).toBe(false);
}

async function authTime(visitor: Visitor, parameters: { max_age: string; prompt?: string }): Promise<number> {
  const flow = authorization(gatehouse, native, { scope: 'openid notes:read', ...parameters });
  const code = (await approve(flow, { visitor })).searchParams.get('code') ?? '';
  const { id_token: idToken } = (await (await redeem(gatehouse.url, flow, code)).json()) as {
    id_token: string;
  };
  return Number(decodeJwt(idToken).auth_time);
}

describe('prompt=none', () => {
  it('without a login is login_required, without a page (T-012)', async () => {
    for (const [, { client, redirect_uri }] of kinds()) {
      const { url } = authorization(gatehouse, client, { redirect_uri, prompt: 'none' });
      await expectCallbackError(await createVisitor().request(url), 'login_required');
    }
  });

  it('with a login is consent_required, even where the person consented to the same before (T-012, T-025)', async () => {
    for (const [, { client, redirect_uri }] of kinds()) {
      const visitor = createVisitor();
      await approve(authorization(gatehouse, client, { redirect_uri }), { visitor });
      const before = await countIssued(gatehouse.folder);
      const { url } = authorization(gatehouse, client, { redirect_uri, prompt: 'none' });
      await expectCallbackError(await visitor.request(url), 'consent_required');
      expect(await countIssued(gatehouse.folder)).toEqual(before);
    }
  });

  it('with a login that is older than max_age is login_required (T-012)', async () => {
    const visitor = createVisitor();
    await approve(authorization(gatehouse, native), { visitor });
    await new Promise((resolve) => setTimeout(resolve, 2100));
    const { url } = authorization(gatehouse, native, {
      scope: 'openid notes:read',
      prompt: 'none',
      max_age: '1',
    });
    await expectCallbackError(await visitor.request(url), 'login_required');
  });

  it('leads to no scheme of an app before a click: a page has the way back as a link (FA-11, T-214)', async () => {
    const redirect_uri = 'com.example.app:/callback';
    const { client_id: client } = await register(gatehouse.url, { redirect_uris: [redirect_uri] });
    for (const prompt of ['none', 'none login']) {
      const { url } = authorization(gatehouse, client, { redirect_uri, prompt });
      const response = await createVisitor().request(url);
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
      expect(await response.text()).toContain(`href="${redirect_uri}?error=`);
    }
  });

  it('leads to the scheme of an app after a click on Deny (FA-11, T-214)', async () => {
    const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const { client_id: client } = await register(gatehouse.url, { redirect_uris: [redirect_uri] });
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, client, { redirect_uri }), visitor);
    const { response } = await visitor.submit(page, '/consent', [['decision', 'deny']]);
    expect(response.headers.get('location')).toContain(`${redirect_uri}?error=access_denied`);
  });

  it.each(['none login', 'none consent', 'login none'])(
    'together with another is invalid_request: %s (T-012)',
    async (prompt) => {
      const { url } = authorization(gatehouse, native, { prompt });
      await expectCallbackError(await createVisitor().request(url), 'invalid_request');
    },
  );
});

describe('a prompt', () => {
  it.each([
    'create',
    'LOGIN',
    'nonsense',
    'consent nonsense',
    'consent select_account',
    'select_account',
    '',
  ])(
    'that is unknown is left out, and select_account shows the consent page: %s (FA-51, T-012)',
    async (prompt) => {
      const visitor = createVisitor();
      await approve(authorization(gatehouse, native), { visitor });
      const { html } = await visitor.open(authorization(gatehouse, native, { prompt }).url);
      expect(html).toContain('/consent"');
    },
  );

  it.each(['none select_account', 'select_account none'])(
    'of none together with select_account is invalid_request: %s (FA-51, T-012)',
    async (prompt) => {
      const { url } = authorization(gatehouse, native, { prompt });
      await expectCallbackError(await createVisitor().request(url), 'invalid_request');
    },
  );

  it('of none together with an unknown one is none (FA-51, T-012)', async () => {
    const { url } = authorization(gatehouse, native, { prompt: 'nonsense none' });
    await expectCallbackError(await createVisitor().request(url), 'login_required');
  });

  it('that is known is in the metadata (FA-51)', async () => {
    const metadata = await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    });
  });

  it('for a login is followed with a live session too, and gives a new auth_time (T-013)', async () => {
    const visitor = createVisitor();
    const first = await authTime(visitor, { max_age: '1000' });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { html } = await visitor.open(authorization(gatehouse, native, { prompt: 'login' }).url);
    expect(html).toContain('name="password"');
    expect(await authTime(visitor, { prompt: 'login', max_age: '1000' })).toBeGreaterThan(first);
  });

  it('for a login is not satisfied by the session that was there: no consent page, no code without a password (T-013)', async () => {
    const visitor = createVisitor();
    await approve(authorization(gatehouse, native), { visitor });
    const page = await visitor.open(authorization(gatehouse, native, { prompt: 'login' }).url);
    const wrong = await visitor.submit(page, '/login', [
      ['email', ada.email],
      ['password', 'not the password'],
    ]);
    expect(wrong.response.status).toBe(401);
    expect(wrong.html).not.toContain('value="allow"');
  });
});

describe('max_age', () => {
  it('that has passed asks for a login again, and gives a new auth_time (T-013)', async () => {
    const visitor = createVisitor();
    const first = await authTime(visitor, { max_age: '1' });
    await new Promise((resolve) => setTimeout(resolve, 2100));
    const flow = authorization(gatehouse, native, { scope: 'openid notes:read', max_age: '1' });
    expect((await visitor.open(flow.url)).html).toContain('name="password"');
    expect(await authTime(visitor, { max_age: '1' })).toBeGreaterThan(first);
  });

  it('that has not passed leaves the login as it is', async () => {
    const visitor = createVisitor();
    const first = await authTime(visitor, { max_age: '1000' });
    expect(await authTime(visitor, { max_age: '1000' })).toBe(first);
  });

  it.each(['-1', 'x', '1.5', '99999999999999999999'])(
    'that is no number of seconds is invalid_request: %s',
    async (maxAge) => {
      const { url } = authorization(gatehouse, native, { scope: 'openid notes:read', max_age: maxAge });
      await expectErrorPage(await createVisitor().request(url), 'invalid_request');
    },
  );
});
