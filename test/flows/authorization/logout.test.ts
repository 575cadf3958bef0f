// Flows of src/authorization-server/logout/logout-endpoints.ts, src/authorization-server/logout/logout-endpoints.ts and
// src/authorization-server/interactions/form.ts.
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { generateSigningKey } from '../../../src/crypto/key-schedule.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, redeem, refresh, register, tryAccess } from '../../support/oauth.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

const goesTo = 'https://app.example.com/bye';

let gatehouse: RunningGatehouse;
let client: string;
let visitor: Visitor;
let tokens: { access_token: string; refresh_token: string; id_token: string };

beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url, { post_logout_redirect_uris: [goesTo, 'javascript:alert(1)'] }))
    .client_id;
  ({ visitor, tokens } = await logIn());
});
afterAll(() => gatehouse.stop());

async function logIn() {
  const browser = createVisitor();
  const flow = authorization(gatehouse, client, { scope: 'openid notes:read notes:write' });
  const code = (await approve(flow, { visitor: browser })).searchParams.get('code') ?? '';
  const response = await redeem(gatehouse.url, flow, code);
  return { visitor: browser, tokens: (await response.json()) as typeof tokens };
}

/** The URL of the logout with a query. */
function end(query: Record<string, string> = {}): string {
  return `${gatehouse.url}/session/end?${new URLSearchParams(query)}`;
}

/** Whether the browser is logged in, by what a silent request is told. */
async function isLoggedIn(browser: Visitor): Promise<boolean> {
  const response = await browser.request(authorization(gatehouse, client, { prompt: 'none' }).url);
  return response.headers.get('location')?.includes('error=consent_required') ?? false;
}

describe('a logout', () => {
  it('by GET shows a page, with who is logged in, and ends nothing (T-016, T-122)', async () => {
    const { response, html } = await visitor.open(end({ logout: 'yes', id_token_hint: tokens.id_token }));
    expect(response.status).toBe(200);
    expect(html).toContain('ada@example.com');
    expect(html).toContain('Apps keep the access you gave them');
    expect((await visitor.request(`${gatehouse.url}/session/end/confirm`)).status).toBe(405);
    expect(await isLoggedIn(visitor)).toBe(true);
  });

  it('counts once the person says so: the cookie is dead, also a copy; apps keep what they have (T-122)', async () => {
    const { visitor: browser, tokens: kept } = await logIn();
    const copy = browser.copy();
    const done = await browser.submit(await browser.open(end()), '/session/end/confirm', [['logout', 'yes']]);
    expect([done.response.status, done.url]).toEqual([200, `${gatehouse.url}/session/end/success`]);
    expect(done.html).toContain('You are logged out');
    expect(browser.cookies.get(cookieName(gatehouse.url, 'session', 'host'))).toBeUndefined();
    expect([await isLoggedIn(browser), await isLoggedIn(copy)]).toEqual([false, false]);
    expect(await tryAccess(gatehouse.mcpUrl, kept.access_token)).toBe(200);
    expect((await refresh(gatehouse.url, client, kept.refresh_token)).status).toBe(200);
    expect(gatehouse.log.some((line) => line.includes('"audit":"session.ended"'))).toBe(true);
  });

  it('that the person does not want leaves the login as it is', async () => {
    const { visitor: browser } = await logIn();
    const stays = await browser.submit(await browser.open(end()), '/session/end/confirm', []);
    expect(stays.url).toBe(`${gatehouse.url}/`);
    expect(await isLoggedIn(browser)).toBe(true);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling of ours', { 'sec-fetch-site': 'same-site' }, 403],
    ['our page with a wrong token', { 'sec-fetch-site': 'same-origin' }, 400],
  ])('is not carried out for %s (T-014, T-122)', async (_who, headers, status) => {
    await visitor.open(end());
    const response = await visitor.request(`${gatehouse.url}/session/end/confirm`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'xsrf=wrong&logout=yes',
    });
    expect([response.status, response.headers.get('location')]).toEqual([status, null]);
    expect(await isLoggedIn(visitor)).toBe(true);
  });

  it.each([
    ['that is compressed', { 'content-encoding': 'gzip' }, 'without a Content-Encoding', 415],
    ['of another type', { 'content-type': 'application/json' }, 'in a wrong format', 415],
    ['that is too large', {}, 'at most 16384 bytes', 413],
  ])('by a form %s is not carried out, and told so (T-134)', async (what, headers, words, status) => {
    const { html } = await visitor.open(end());
    const xsrf = /name="xsrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const filling = what === 'that is too large' ? 'x'.repeat(16_384) : '';
    const response = await visitor.request(`${gatehouse.url}/session/end/confirm`, {
      method: 'POST',
      headers: {
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body: new URLSearchParams({ xsrf, logout: 'yes', filling }).toString(),
    });
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(words)]);
    expect(await isLoggedIn(visitor)).toBe(true);
  });

  it('shows a page with a button where nobody is logged in, too', async () => {
    const browser = createVisitor();
    const page = await browser.open(end());
    expect([page.response.status, page.html.includes('<script')]).toEqual([200, false]);
    expect(page.html).toContain('Nobody is logged in here');
    const done = await browser.submit(page, '/session/end/confirm', [['logout', 'yes']]);
    expect(done.url).toBe(`${gatehouse.url}/session/end/success`);
  });
});

describe('the way on after a logout', () => {
  it('is a registered URI of the client whose ID token is shown, told beforehand, with its state (T-122)', async () => {
    const { visitor: browser, tokens: own } = await logIn();
    const page = await browser.open(
      end({ id_token_hint: own.id_token, post_logout_redirect_uri: goesTo, state: 'a b' }),
    );
    expect(page.html).toContain('Then you continue to <strong>app.example.com</strong>');
    expect(page.response.headers.get('content-security-policy')).toContain("form-action 'self';");
    const done = await browser.submit(page, '/session/end/confirm', [['logout', 'yes']]);
    expect(done.response.headers.get('location')).toBe(`${goesTo}?state=a+b`);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it('is nowhere else without an ID token, though the client and its URI are known (T-112, T-122)', async () => {
    for (const query of [{ client_id: client }, {}] as Record<string, string>[]) {
      const browser = createVisitor();
      const page = await browser.open(end({ ...query, post_logout_redirect_uri: goesTo }));
      expect(page.html).not.toContain('app.example.com');
      const done = await browser.submit(page, '/session/end/confirm', [['logout', 'yes']]);
      expect(done.url).toBe(`${gatehouse.url}/session/end/success`);
    }
  });

  it.each([
    'https://evil.example/',
    'https://app.example.com/bye/../evil',
    'https://app.example.com/bye?x=1',
    'https://app.example.com.evil.example/bye',
    '//evil.example',
    '/\\evil.example',
    'https:evil.example',
    'javascript:alert(1)',
  ])('is never %s, which was not registered (T-112, T-122)', async (uri) => {
    const response = await visitor.request(
      end({ id_token_hint: tokens.id_token, post_logout_redirect_uri: uri }),
    );
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('does not follow an ID token that is not ours: made up, unsigned, of another key, or of nobody (T-122)', async () => {
    const claims = { aud: client, sub: 'ada', iss: gatehouse.url };
    const { kid: _kid, ...foreign } = await generateSigningKey();
    const signed = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(foreign);
    const tampered = tokens.id_token.replace(/\.[^.]*$/, (signature) =>
      signature.split('').reverse().join(''),
    );
    for (const hint of ['x', new UnsecuredJWT(claims).encode(), signed, tampered, tokens.access_token]) {
      const response = await visitor.request(end({ id_token_hint: hint, post_logout_redirect_uri: goesTo }));
      expect([response.status, response.headers.get('location')], hint).toEqual([400, null]);
    }
    expect(await isLoggedIn(visitor)).toBe(true);
  });

  it('does not follow an ID token of another client than the one named (T-122)', async () => {
    const other = (await register(gatehouse.url, { post_logout_redirect_uris: [goesTo] })).client_id;
    const response = await visitor.request(
      end({ id_token_hint: tokens.id_token, client_id: other, post_logout_redirect_uri: goesTo }),
    );
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  });

  it('is registered only where it fits the client; nothing else of the registration depends on it (T-003)', async () => {
    const odd = ['javascript:alert(1)', 'http://evil.example/', 'https://a@b.example/', 7];
    const answer = await register(gatehouse.url, { post_logout_redirect_uris: [...odd.slice(0, 3), goesTo] });
    expect(answer.post_logout_redirect_uris).toEqual([goesTo]);
    const none = await register(gatehouse.url, { post_logout_redirect_uris: odd });
    expect(none.post_logout_redirect_uris).toEqual([]);
  });
});
