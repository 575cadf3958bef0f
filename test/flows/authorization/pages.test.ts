import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, openConsent, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { approveDevice, askForCode, enterCode, registerDevice } from '../device/subject.ts';

// Over src/authorization-server/interactions/page.ts and src/authorization-server/endpoints/error-page.ts.

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

async function device() {
  return askForCode(gatehouse, await registerDevice(gatehouse.url));
}

/** Every kind of page a browser can be shown, by what brings it up. */
const pages: [string, number, () => Promise<{ response: Response; html: string }>][] = [
  ['login', 200, () => createVisitor().open(authorization(gatehouse, client).url)],
  ['consent', 200, () => openConsent(authorization(gatehouse, client), createVisitor())],
  [
    'login refused',
    401,
    () =>
      openConsent(authorization(gatehouse, client), createVisitor(), { ...ada, password: 'wrong password' }),
  ],
  ['error: unknown client', 400, () => createVisitor().open(authorization(gatehouse, 'unknown').url)],
  [
    'error: bad scope, with the way back',
    400,
    () => createVisitor().open(authorization(gatehouse, client, { scope: 'nonsense' }).url),
  ],
  [
    'error: response mode',
    400,
    () => createVisitor().open(authorization(gatehouse, client, { response_mode: 'form_post' }).url),
  ],
  [
    'error: interaction over',
    400,
    () => createVisitor().open(`${gatehouse.url}/interaction/${'x'.repeat(43)}`),
  ],
  ['error: resumption over', 400, () => createVisitor().open(`${gatehouse.url}/authorize/${'x'.repeat(43)}`)],
  ['error: no such step', 404, () => createVisitor().open(`${gatehouse.url}/interaction/x/nonsense`)],
  ['error: wrong method', 405, () => createVisitor().open(`${gatehouse.url}/interaction/x/login`)],
  ['device: the code', 200, () => createVisitor().open(`${gatehouse.url}/device`)],
  ['device: the code out of a link', 200, async () => createVisitor().open((await device()).completeUrl)],
  [
    'device: a wrong code',
    400,
    async () => enterCode({ ...(await device()), userCode: 'BBBB-BBBB' }, createVisitor()),
  ],
  ['device: is it yours', 200, async () => enterCode(await device(), createVisitor())],
  ['device: done', 200, async () => approveDevice(await device())],
  ['device: denied', 200, () => createVisitor().open(`${gatehouse.url}/device/denied`)],
  ['logout', 200, () => createVisitor().open(`${gatehouse.url}/session/end`)],
  ['logout: done', 200, () => createVisitor().open(`${gatehouse.url}/session/end/success`)],
  [
    'error: logout with a wrong token',
    400,
    () => createVisitor().open(`${gatehouse.url}/session/end?id_token_hint=x`),
  ],
  [
    'error: form refused',
    403,
    async () => {
      const visitor = createVisitor();
      const page = await openConsent(authorization(gatehouse, client), visitor);
      return visitor.open(`${page.url}/consent`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' },
        body: '',
      });
    },
  ],
];

describe.each(pages)('the page "%s"', (_name, status, open) => {
  it('is not framed, stored, sniffed or told to others, and runs no script (T-017, A11-03)', async () => {
    const { response, html } = await open();
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/html; charset=utf-8',
    });
    const policy = response.headers.get('content-security-policy') ?? '';
    for (const directive of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "img-src 'none'",
    ])
      expect(policy).toContain(directive);
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/<script|<iframe|<img|<link|\son\w+=|javascript:/i);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('loads nothing from elsewhere and holds no code or token (T-017)', async () => {
    const { html } = await open();
    expect(html).not.toMatch(/\b(?:src|srcset|poster|background)=/i);
    expect(html).not.toMatch(/url\(|@import/i);
    expect(html).not.toMatch(/[?&]code=|access_token|refresh_token|password="/i);
  });
});

describe('a posted form', () => {
  it('is answered by 303, never by 307 or 308, so that no password is posted on (T-018)', async () => {
    const visitor = createVisitor();
    const page = await visitor.open(authorization(gatehouse, client).url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const posted = await visitor.request(`${page.url}/login`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ csrf, ...ada }).toString(),
    });
    expect(posted.status).toBe(303);
    const resumed = await visitor.request(posted.headers.get('location') ?? '');
    expect(resumed.status).toBe(303);
    const consent = await visitor.request(resumed.headers.get('location') ?? '');
    expect(consent.status).toBe(200);
    const cancelled = await visitor.submit(
      { html: await consent.text(), url: resumed.headers.get('location') ?? '' },
      '/consent',
      [['decision', 'deny']],
    );
    expect(cancelled.response.status).toBe(303);
    expect(cancelled.response.headers.get('location')).toContain('error=access_denied');
  });

  it('goes to no other place because its query or a header names one (T-112)', async () => {
    for (const target of [
      '//evil.example',
      '/\\evil.example',
      'https:evil.example',
      'https://evil.example/x',
    ]) {
      const visitor = createVisitor();
      const flow = authorization(gatehouse, client);
      const query = ['return_to', 'next', 'continue', 'redirect', 'url']
        .map((name) => `${name}=${encodeURIComponent(target)}`)
        .join('&');
      const page = await visitor.open(`${flow.url}&${query}`);
      const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
      const posted = await visitor.request(`${page.url}/login?${query}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          referer: target,
        },
        body: `${new URLSearchParams({ csrf, ...ada })}&${query}`,
      });
      const location = posted.headers.get('location') ?? '';
      expect(location.startsWith(`${gatehouse.url}/authorize/`)).toBe(true);
      expect(location).not.toContain('evil');
    }
  });
});

describe('a client that takes JSON rather than pages', () => {
  it('is told an error of the authorization endpoint in JSON, without a redirect', async () => {
    const response = await fetch(authorization(gatehouse, 'unknown').url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_client' }]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});
