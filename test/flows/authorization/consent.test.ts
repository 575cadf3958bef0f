import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  type Flow,
  openConsent,
  redirectUri,
  register,
} from '../../support/oauth.ts';
import { shownCode } from '../../support/refusal.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

// Over src/authorization-server/interactions/consent.ts, src/authorization-server/interactions/deny-access.ts,
// src/authorization-server/interactions/routes.ts and
// src/authorization-server/endpoints/authorization-endpoint.ts.

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const sameOrigin = { ...form, 'sec-fetch-site': 'same-origin' };

function csrfOf(html: string, action: string): string {
  const part = html.slice(html.indexOf(`${action}"`));
  return /name="csrf" value="([^"]*)"/.exec(part)?.[1] ?? '';
}

describe('a consent decision', () => {
  let visitor: Visitor;
  let flow: Flow;
  let page: { url: string; html: string };
  beforeEach(async () => {
    visitor = createVisitor();
    flow = authorization(gatehouse, client);
    page = await openConsent(flow, visitor);
  });

  function decide(csrf: string, init: RequestInit = {}, extra = ''): Promise<Response> {
    const body = `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread${extra}`;
    return visitor.request(`${page.url}/consent`, { method: 'POST', headers: sameOrigin, body, ...init });
  }

  async function expectRefused(attempt: () => Promise<Response>, status: number): Promise<void> {
    const before = await countIssued(gatehouse.folder);
    const response = await attempt();
    expect([response.status, response.headers.get('location')]).toEqual([status, null]);
    expect(shownCode(await response.text())).toBe('invalid_request');
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  }

  it('that comes from our page counts, by 303 (T-014, T-018)', async () => {
    const response = await decide(csrfOf(page.html, '/consent'));
    expect(response.status).toBe(303);
    const { response: last } = await visitor.open(response.headers.get('location') ?? '');
    expect(last.status).toBe(303);
    expect(new URL(last.headers.get('location') ?? '').searchParams.has('code')).toBe(true);
  });

  it('with nothing ticked denies access, and ends what was allowed before where that is asked for', async () => {
    const { client_id: own } = await register(gatehouse.url);
    const before = await approve(authorization(gatehouse, own), { visitor });
    expect(before.searchParams.get('code')).toBeTruthy();
    const again = authorization(gatehouse, own, { prompt: 'consent' });
    const denied = await approve(again, { visitor, scopes: [], fields: [['end_earlier', 'on']] });
    expect(denied.searchParams.get('error')).toBe('access_denied');
    expect(await gatehouse.administration.grants.list({ clientId: own })).toEqual([]);
  });

  it('without the token of the page does not count (T-014, A11-03)', async () => {
    for (const csrf of ['', 'x', csrfOf(page.html, '/consent').slice(1), `${csrfOf(page.html, '/consent')}x`])
      await expectRefused(() => decide(csrf), 403);
  });

  it('with the token of another page or another interaction of the same browser does not count (T-014)', async () => {
    const login = await createVisitor().open(flow.url);
    await expectRefused(() => decide(csrfOf(login.html, '/login')), 403);
    const other = await openConsent(authorization(gatehouse, client), visitor);
    await expectRefused(() => decide(csrfOf(other.html, '/consent')), 403);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of our site', { 'sec-fetch-site': 'same-site' }],
    ['no page at all', { 'sec-fetch-site': 'none' }],
    ['another origin, in an older browser', { origin: 'https://evil.example' }],
  ])('from %s does not count, even with the right token (T-014)', async (_where, headers) => {
    const init = { headers: { ...form, ...headers } as Record<string, string> };
    await expectRefused(() => decide(csrfOf(page.html, '/consent'), init), 403);
  });

  it('in another format does not count (T-014)', async () => {
    const csrf = csrfOf(page.html, '/consent');
    const json = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ csrf, decision: 'allow' }),
    };
    await expectRefused(() => decide(csrf, json), 415);
    const plain = { headers: { ...sameOrigin, 'content-type': 'text/plain' } };
    await expectRefused(() => decide(csrf, plain), 415);
  });

  it('counts once: the same form again ends at a page, and its redirect leads where it led (T-014, T-028, FA-23)', async () => {
    const csrf = csrfOf(page.html, '/consent');
    const first = await decide(csrf);
    const onward = first.headers.get('location') ?? '';
    const { response } = await visitor.open(onward);
    await expectRefused(() => decide(csrf), 400);
    await expectRefused(() => visitor.request(page.url), 400);
    const before = await countIssued(gatehouse.folder);
    const again = await visitor.request(onward);
    expect([again.status, again.headers.get('location')]).toEqual([303, response.headers.get('location')]);
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('in two tabs at once gives one code and no fault of ours (T-028)', async () => {
    const csrf = csrfOf(page.html, '/consent');
    const before = await countIssued(gatehouse.folder);
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const tab = visitor.copy();
        const posted = await tab.request(`${page.url}/consent`, {
          method: 'POST',
          headers: sameOrigin,
          body: `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread`,
        });
        const location = posted.headers.get('location');
        return location === null ? posted : (await tab.open(location)).response;
      }),
    );
    const codes = answers.filter(({ headers }) => headers.get('location')?.startsWith(redirectUri));
    const places = new Set(codes.map(({ headers }) => headers.get('location')));
    expect(places.size).toBe(1);
    expect(answers.every(({ status }) => status === 303 || status === 400)).toBe(true);
    expect(await countIssued(gatehouse.folder)).toMatchObject({
      codes: before.codes + 1,
      grants: before.grants + 1,
    });
  });

  it('is taken up once, however often the browser asks at once (T-028)', async () => {
    const location = (await decide(csrfOf(page.html, '/consent'))).headers.get('location') ?? '';
    const before = (await countIssued(gatehouse.folder)).codes;
    const answers = await Promise.all(Array.from({ length: 6 }, () => visitor.copy().request(location)));
    // Two nodes that are asked at once do not know what the other one is about to answer: one of them sends an error page.
    const redirects = answers.filter(({ status }) => status === 303 || nodeCount === 1);
    const places = redirects.map(({ headers }) => headers.get('location'));
    expect([redirects[0]?.status, new Set(places).size]).toEqual([303, 1]);
    expect((await countIssued(gatehouse.folder)).codes).toBe(before + 1);
  });

  it('that is neither allow nor deny denies (T-014)', async () => {
    const body = `csrf=${encodeURIComponent(csrfOf(page.html, '/consent'))}&decision=perhaps&scope=notes%3Aread`;
    const posted = await visitor.request(`${page.url}/consent`, {
      method: 'POST',
      headers: sameOrigin,
      body,
    });
    const { response } = await visitor.open(posted.headers.get('location') ?? '');
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('error')).toBe('access_denied');
  });

  it.each(['login', 'cancel', 'consent', 'switch'])(
    'cannot be made by a link: GET, HEAD and PUT of /%s change nothing (T-016)',
    async (step) => {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
        const query = `csrf=${encodeURIComponent(csrfOf(page.html, '/consent'))}&decision=allow&scope=notes%3Aread`;
        const response = await visitor.request(`${page.url}/${step}?${query}`, { method });
        expect([response.status, response.headers.get('allow'), response.headers.get('location')]).toEqual([
          405,
          'POST',
          null,
        ]);
      }
      expect((await decide(csrfOf(page.html, '/consent'))).status).toBe(303);
    },
  );

  it('goes nowhere but to the client, whatever the form, the query or the referrer name (T-112)', async () => {
    const targets = ['//evil.example', '/\\evil.example', 'https:evil.example', 'https://evil.example'];
    const extra = targets
      .map((target) => `&return_to=${encodeURIComponent(target)}&redirect_uri=${target}`)
      .join('');
    const response = await decide(
      csrfOf(page.html, '/consent'),
      { headers: { ...sameOrigin, referer: 'https://evil.example/' } },
      extra,
    );
    const location = response.headers.get('location') ?? '';
    expect(new URL(location).origin).toBe(new URL(gatehouse.url).origin);
    const { response: last } = await visitor.open(location, {
      headers: { referer: 'https://evil.example/' },
    });
    expect(last.headers.get('location')?.startsWith(`${redirectUri}?`)).toBe(true);
  });
});

describe('consent', () => {
  it('is asked each time: for the same request, for more scopes, at another redirect URI (T-025)', async () => {
    const other = 'http://127.0.0.1:53682/other';
    const { client_id: id } = await register(gatehouse.url, { redirect_uris: [redirectUri, other] });
    const web = (await register(gatehouse.url, { redirect_uris: ['https://app.example.com/cb'] })).client_id;
    const visitor = createVisitor();
    await approve(authorization(gatehouse, id, { scope: 'notes:read' }), { visitor, scopes: ['notes:read'] });
    for (const request of [
      authorization(gatehouse, id, { scope: 'notes:read' }),
      authorization(gatehouse, id, { scope: 'notes:read notes:write' }),
      authorization(gatehouse, id, { redirect_uri: other }),
      authorization(gatehouse, web, { redirect_uri: 'https://app.example.com/cb' }),
    ]) {
      const { html } = await visitor.open(request.url);
      expect(html).toContain('value="allow"');
    }
  });

  it('of one authorization does not widen another of the same client: each has a grant of its own (T-025)', async () => {
    const visitor = createVisitor();
    const before = (await countIssued(gatehouse.folder)).grants;
    await approve(authorization(gatehouse, client), { visitor });
    await approve(authorization(gatehouse, client), { visitor });
    expect((await countIssued(gatehouse.folder)).grants).toBe(before + 2);
  });

  it('shows who asks, for which scopes, where the approval goes, and that the name was not checked (A5-09, A11-03)', async () => {
    const { html, response } = await openConsent(authorization(gatehouse, client), createVisitor());
    expect(html).toContain('A test client');
    expect(html).toContain('Not checked');
    for (const scope of ['notes:read', 'notes:write']) expect(html).toContain(`value="${scope}"`);
    expect(html).toContain('an app on this computer (127.0.0.1)');
    expect(html).toContain('Only continue if you just started this login from an app on this computer.');
    expect(html).toContain(redirectUri);
    expect(html).toContain('name="csrf"');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('shows the host of a web client, in ASCII (A5-09)', async () => {
    const redirect = 'https://аpple.example/cb';
    const { client_id: id } = await register(gatehouse.url, { redirect_uris: [new URL(redirect).href] });
    const { html } = await openConsent(
      authorization(gatehouse, id, { redirect_uri: new URL(redirect).href }),
      createVisitor(),
    );
    expect(html).toContain('xn--pple-43d.example');
    expect(html).not.toContain('аpple');
  });
});
