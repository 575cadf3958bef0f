import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { authorization, type Flow, openConsent, redirectUri, register } from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';

// Over src/authorization-server/interactions/interaction.ts, src/authorization-server/interactions/page-pass.ts and the
// engine's resumption.

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

async function reachConsent(): Promise<{
  visitor: Visitor;
  flow: Flow;
  page: { url: string; html: string };
}> {
  const visitor = createVisitor();
  const flow = authorization(gatehouse, client);
  return { visitor, flow, page: await openConsent(flow, visitor) };
}

function consentBody(html: string): string {
  const csrf = /action="[^"]*\/consent"[\s\S]*?name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
  return `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread`;
}

/** Posts the consent form; gives the URL at which the engine takes the request up again. */
async function decide(visitor: Visitor, page: { url: string; html: string }): Promise<string> {
  const response = await visitor.request(`${page.url}/consent`, {
    method: 'POST',
    headers,
    body: consentBody(page.html),
  });
  return response.headers.get('location') ?? '';
}

async function expectNothing(attempt: () => Promise<Response>): Promise<void> {
  const before = await countIssued(gatehouse.folder);
  await expectErrorPage(await attempt(), 'invalid_request');
  expect(await countIssued(gatehouse.folder)).toEqual(before);
}

describe('an interaction', () => {
  it('opens in no other browser, logged in or not (T-015)', async () => {
    const { page } = await reachConsent();
    const loggedIn = (await reachConsent()).visitor;
    for (const stranger of [createVisitor(), loggedIn]) {
      await expectNothing(() => stranger.request(page.url));
      await expectNothing(() =>
        stranger.request(`${page.url}/consent`, { method: 'POST', headers, body: consentBody(page.html) }),
      );
      await expectNothing(() =>
        stranger.request(`${page.url}/switch`, { method: 'POST', headers, body: consentBody(page.html) }),
      );
    }
  });

  it('is resumed in no other browser, even after it was approved (T-015)', async () => {
    const { visitor, page } = await reachConsent();
    const resume = await decide(visitor, page);
    await expectNothing(() => createVisitor().request(resume));
    const { visitor: loggedIn } = await reachConsent();
    await expectNothing(() => loggedIn.request(resume));
    expect((await visitor.request(resume)).headers.get('location')).toContain('code=');
  });

  it('is not resumed with the session of somebody else in the browser (T-015)', async () => {
    const { visitor, page } = await reachConsent();
    const resume = await decide(visitor, page);
    const session = [...(await reachConsent()).visitor.cookies].filter(([name]) => name.includes('session'));
    const mixed = visitor.copy((name, value) => new Map(session).get(name) ?? value);
    await expectNothing(() => mixed.request(resume));
  });

  it('does not open with the cookie of another interaction (T-015)', async () => {
    const { page } = await reachConsent();
    const own = await reachConsent();
    const cookie = [...own.visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(page.url, { headers: { cookie, accept: 'text/html' }, redirect: 'manual' });
    await expectNothing(async () => response);
  });

  it.each(['gatehouse-interaction', 'gatehouse-interaction.sig'])(
    'does not open when one character of %s differs (T-010, T-121)',
    async (changed) => {
      const { visitor, page } = await reachConsent();
      expect(visitor.cookies.has(changed)).toBe(true);
      const tampered = visitor.copy((name, value) =>
        name === changed ? `${value.slice(0, -2)}${value.at(-2) === 'A' ? 'B' : 'A'}${value.at(-1)}` : value,
      );
      await expectNothing(() => tampered.request(page.url));
      expect((await visitor.request(page.url)).status).toBe(200);
    },
  );

  it.each(['gatehouse-resume', 'gatehouse-resume.sig'])(
    'is not resumed when one character of %s differs (T-010, T-121)',
    async (changed) => {
      const { visitor, page } = await reachConsent();
      const resume = await decide(visitor, page);
      const tampered = visitor.copy((name, value) =>
        name === changed ? `${value.slice(0, -2)}${value.at(-2) === 'A' ? 'B' : 'A'}${value.at(-1)}` : value,
      );
      await expectNothing(() => tampered.request(resume));
    },
  );

  it('keeps the request as it was begun: parameters of the resuming URL do not count (T-010)', async () => {
    const { visitor, flow, page } = await reachConsent();
    const resume = await decide(visitor, page);
    const tampering = new URLSearchParams({
      redirect_uri: 'https://evil.example/cb',
      scope: 'admin',
      state: 'forged',
      client_id: 'forged',
      code_challenge: 'a'.repeat(43),
    });
    const callback = new URL(
      (await visitor.request(`${resume}&${tampering}`)).headers.get('location') ?? 'https://nowhere.example',
    );
    expect(`${callback.origin}${callback.pathname}`).toBe(redirectUri);
    expect(callback.searchParams.get('state')).toBe(flow.state);
    expect(callback.searchParams.has('code')).toBe(true);
    expect(callback.hash).toBe('');
  });

  it('refuses to be resumed with a response mode or type of its own, and stays resumable (T-010)', async () => {
    const { visitor, page } = await reachConsent();
    const resume = await decide(visitor, page);
    await expectNothing(() => visitor.request(`${resume}&response_mode=fragment`));
    const typed = await visitor.request(`${resume}&response_type=token`);
    await expectErrorPage(typed, 'unsupported_response_type');
    expect((await visitor.request(resume)).headers.get('location')).toContain('?code=');
  });

  it('cannot be resumed before it was answered: nothing is issued, and the person can still answer (T-015)', async () => {
    const { visitor, page } = await reachConsent();
    const before = await countIssued(gatehouse.folder);
    const uid = page.url.slice(page.url.lastIndexOf('/') + 1);
    await expectNothing(() => visitor.request(`${gatehouse.url}/authorize/${uid}`));
    await expectNothing(() => visitor.request(`${gatehouse.url}/authorize/${uid}?pass=`));
    expect(await countIssued(gatehouse.folder)).toEqual(before);
    expect((await visitor.request(await decide(visitor, page))).headers.get('location')).toContain('code=');
  });

  it.each(['/login', '/consent'])(
    'that an app began, with its cookies planted in the browser of a person, goes on for that person alone after %s (T-208)',
    async (step) => {
      const person = createVisitor();
      const page =
        step === '/login'
          ? await person.open(authorization(gatehouse, client).url)
          : await openConsent(authorization(gatehouse, client), person);
      // Whoever began it has every cookie that the person has, also those set afterwards, and the same page.
      const app = person.copy();
      const own = await app.open(page.url);
      expect(own.response.status).toBe(200);
      const fields: [string, string][] =
        step === '/login'
          ? [
              ['email', ada.email],
              ['password', ada.password],
            ]
          : [
              ['decision', 'allow'],
              ['scope', 'notes:read'],
            ];
      const form = new RegExp(`action="([^"]*${step})"[\\s\\S]*?name="csrf" value="([^"]*)"`);
      const formOf = (html: string) => form.exec(html)?.slice(1) ?? [];
      const post = (visitor: Visitor, html: string, more: [string, string][]) => {
        const [action = '', csrf = ''] = formOf(html);
        const body = new URLSearchParams([['csrf', csrf], ...more]);
        return visitor.request(action, { method: 'POST', headers, body });
      };
      const answered = await post(person, page.html, fields);
      const resume = answered.headers.get('location') ?? '';
      const again = (await post(app, own.html, [])).headers.get('location') ?? '';
      expect(again.split('?')[0]).toBe(resume.split('?')[0]);
      await expectNothing(() => app.copy().request(again));
      await expectNothing(() => app.copy().request(resume.split('?')[0] ?? ''));
      expect((await person.request(resume)).headers.get('location')).toMatch(/\/interaction\/|code=/);
    },
  );

  it('that never was is a page like one that is over (T-015)', async () => {
    for (const place of ['interaction', 'authorize'])
      await expectNothing(() => createVisitor().request(`${gatehouse.url}/${place}/${'x'.repeat(43)}`));
  });

  it('lets a page of the login step carry out no consent, and the other way round (T-014)', async () => {
    const visitor = createVisitor();
    const login = await visitor.open(authorization(gatehouse, client).url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(login.html)?.[1] ?? '';
    await expectNothing(() =>
      visitor.request(`${login.url}/consent`, {
        method: 'POST',
        headers,
        body: `csrf=${encodeURIComponent(csrf)}&decision=allow&scope=notes%3Aread`,
      }),
    );
    const { visitor: second, page } = await reachConsent();
    await expectNothing(() =>
      second.request(`${page.url}/login`, { method: 'POST', headers, body: consentBody(page.html) }),
    );
  });
});

describe('two logins in one browser', () => {
  const bob = { email: 'bob@example.com', password: 'a rather long password' };
  beforeAll(async () => {
    await gatehouse.administration.accounts.add(bob.email, bob.password);
  });

  it('that were begun side by side end with the one that came last, without a fault or a script', async () => {
    const visitor = createVisitor();
    const first = await visitor.open(authorization(gatehouse, client).url);
    const second = authorization(gatehouse, client);
    await openConsent(second, visitor, bob);
    const consent = await visitor.submit(first, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    expect(consent.html).not.toContain('<script');
    expect(consent.response.status).toBe(200);
    expect(consent.html).toContain(ada.email);
    expect(consent.html).toContain('value="allow"');
  });

  it('of which the other came in between login and consent end at a page that says so', async () => {
    const visitor = createVisitor();
    const page = await visitor.open(authorization(gatehouse, client).url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const posted = await visitor.request(`${page.url}/login`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ csrf, ...ada }).toString(),
    });
    expect(posted.status).toBe(303);
    await openConsent(authorization(gatehouse, client), visitor, bob);
    await expectNothing(() => visitor.request(posted.headers.get('location') ?? ''));
  });

  it('of different persons leave the earlier one logged out (T-119)', async () => {
    const { visitor, page } = await reachConsent();
    const before = visitor.copy();
    const switched = await visitor.submit(page, '/switch', []);
    expect(switched.html).toContain('name="password"');
    const consent = await visitor.submit(switched, '/login', [
      ['email', bob.email],
      ['password', bob.password],
    ]);
    expect(consent.html).toContain(bob.email);
    const { url } = authorization(gatehouse, client, { prompt: 'none' });
    const asAda = await before.request(url);
    expect(asAda.headers.get('location')).toContain('error=login_required');
  });
});
