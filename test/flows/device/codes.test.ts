// Flows of src/authorization-server/device/device-endpoints.ts, src/authorization-server/device/device-pages.ts and
// src/authorization-server/device/device-endpoints.ts.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { post, refresh, register, tryAccess } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { approveDevice, askForCode, claim, enterCode, poll, registerDevice } from './subject.ts';

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  await gatehouse.administration.accounts.add(grace.email, grace.password);
  client = await registerDevice(gatehouse.url);
});
afterAll(() => gatehouse.stop());
afterEach(() => void vi.useRealTimers());

function later(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

const errorOf = async (waiting: Parameters<typeof poll>[1]) =>
  (await poll(gatehouse.url, waiting)).body.error;

describe('a form with a code', () => {
  it.each([
    ['is compressed', { 'content-encoding': 'gzip' }, 'without a Content-Encoding'],
    ['is of another type', { 'content-type': 'application/json' }, 'in a wrong format'],
  ])('that %s is told so, and uses nothing up (T-134)', async (_what, headers, words) => {
    const waiting = await askForCode(gatehouse, client);
    const visitor = createVisitor();
    const { html } = await visitor.open(waiting.url);
    const xsrf = /name="xsrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const response = await visitor.request(waiting.url, {
      method: 'POST',
      headers: {
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      body: new URLSearchParams({ user_code: waiting.userCode, xsrf }).toString(),
    });
    expect([response.status, await response.text()]).toEqual([415, expect.stringContaining(words)]);
    expect((await enterCode(waiting, visitor)).html).toContain('Is this your device?');
  });
});

describe('a device that polls', () => {
  it('is told to slow down where it comes too soon, and gets its token all the same (RFC 8628 section 3.5)', async () => {
    const waiting = await askForCode(gatehouse, client);
    const errors = [await errorOf(waiting)];
    // Each node counts for itself.
    while (errors.length <= nodeCount) errors.push(await errorOf(waiting));
    expect([errors[0], errors.includes('slow_down')]).toEqual(['authorization_pending', true]);
    await approveDevice(waiting);
    expect((await poll(gatehouse.url, waiting)).status).toBe(200);
  });

  it('is told of an end by time, and so is the person who comes late', async () => {
    const waiting = await askForCode(gatehouse, client);
    later(601);
    expect(await errorOf(waiting)).toBe('expired_token');
    expect((await enterCode(waiting, createVisitor())).html).toContain('This code has expired');
  });

  it.each(['at the first page', 'at the consent'])('is told of a refusal %s', async (place) => {
    const waiting = await askForCode(gatehouse, client);
    const visitor = createVisitor();
    const denied =
      place === 'at the consent'
        ? await visitor.submit(await claim(waiting, visitor), '/consent', [['decision', 'deny']])
        : await visitor.submit(await enterCode(waiting, visitor), '/device', [['abort', 'yes']]);
    expect([denied.response.status, denied.url]).toEqual([200, `${gatehouse.url}/device/denied`]);
    expect([await errorOf(waiting), await errorOf(waiting)]).toEqual(['access_denied', 'access_denied']);
    expect((await enterCode(waiting, createVisitor())).html).toContain('This code was used already');
  });

  it('with the code of another client gets nothing, and ends nothing (T-029)', async () => {
    const waiting = await askForCode(gatehouse, client);
    await approveDevice(waiting);
    const clientId = await registerDevice(gatehouse.url);
    expect(await errorOf({ ...waiting, clientId })).toBe('invalid_grant');
    expect((await poll(gatehouse.url, waiting)).status).toBe(200);
  });
});

describe('a device code', () => {
  it('is redeemed once, however many come at once, and what the first got ends then (T-029, T-032)', async () => {
    const waiting = await askForCode(gatehouse, client);
    await approveDevice(waiting);
    const answers = await Promise.all(Array.from({ length: 12 }, () => poll(gatehouse.url, waiting)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(12 - won.length);
    for (const { body } of won) expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(401);
  });

  it.each([0, 700])('that comes again after %i seconds ends its grant (T-029)', async (seconds) => {
    const waiting = await askForCode(gatehouse, client);
    await approveDevice(waiting);
    const { body } = await poll(gatehouse.url, waiting);
    expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(200);
    if (seconds > 0) later(seconds);
    expect((await poll(gatehouse.url, waiting)).status).toBe(400);
    const rows = await gatehouse.storage.audit.read({ event: 'token.reuse_detected', limit: 9 });
    expect(new Set(rows.map(({ details }) => JSON.parse(details).kind))).toEqual(new Set(['DeviceCode']));
    expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(401);
    expect((await refresh(gatehouse.url, client, body.refresh_token ?? '')).status).toBe(400);
  });

  it('that comes again from another client, after its time too, ends nothing (T-029)', async () => {
    const waiting = await askForCode(gatehouse, client);
    await approveDevice(waiting);
    const { body } = await poll(gatehouse.url, waiting);
    const clientId = await registerDevice(gatehouse.url);
    later(700);
    await poll(gatehouse.url, { ...waiting, clientId });
    expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(200);
  });

  it('is for clients that are registered for it, for resources and scopes that exist', async () => {
    const ask = (fields: Record<string, string>) => post(`${gatehouse.url}/device/auth`, fields);
    const plain = (await register(gatehouse.url)).client_id;
    const answers: unknown[] = [];
    for (const fields of [
      { client_id: plain },
      { client_id: client, resource: 'https://evil.example' },
      { client_id: client, scope: 'nonsense' },
      { client_id: 'nobody' },
    ] as Record<string, string>[]) {
      const response = await ask(fields);
      answers.push([response.status, ((await response.json()) as { error: string }).error]);
      expect(response.headers.get('cache-control')).toContain('no-store');
    }
    expect(answers).toEqual([
      [400, 'unauthorized_client'],
      [400, 'invalid_target'],
      [400, 'invalid_scope'],
      [401, 'invalid_client'],
    ]);
  });

  it('gives only what stayed ticked, of the default resource where none was named', async () => {
    const waiting = await askForCode(gatehouse, client, { resource: `${gatehouse.mcpUrl}/` });
    await approveDevice(waiting, createVisitor(), ['notes:read']);
    const { body } = await poll(gatehouse.url, waiting);
    expect(body.scope).toBe('notes:read');
    expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(200);
  });
});

describe('a user code', () => {
  it('is taken as people type it: in small letters, with blanks or nothing between its halves', async () => {
    for (const typed of [(code: string) => code.toLowerCase(), (code: string) => code.replace('-', ' ')]) {
      const waiting = await askForCode(gatehouse, client);
      const page = await enterCode({ ...waiting, userCode: typed(waiting.userCode) }, createVisitor());
      expect(page.html).toContain('Is this your device?');
    }
  });

  it('belongs to the browser that claimed it first; nobody else can go on with it or decide (T-029)', async () => {
    const waiting = await askForCode(gatehouse, client);
    const [owner, stranger] = [createVisitor(), createVisitor()];
    const late = await enterCode(waiting, stranger);
    const consent = await claim(waiting, owner);
    const second = await stranger.submit(late, '/device', [['confirm', 'yes']]);
    expect(second.html).toContain('This code was used already');
    expect((await enterCode(waiting, stranger)).html).toContain('This code was used already');
    const refusal = await stranger.submit(late, '/device', [['abort', 'yes']]).catch(() => undefined);
    expect(refusal?.url).not.toBe(`${gatehouse.url}/device/denied`);
    expect((await stranger.open(consent.url)).response.status).toBe(400);
    const uid = consent.url.slice(consent.url.lastIndexOf('/') + 1);
    expect((await stranger.open(`${gatehouse.url}/device/${uid}`)).response.status).toBe(400);
    expect(await errorOf(waiting)).toBe('authorization_pending');
    await owner.submit(consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect((await poll(gatehouse.url, waiting)).status).toBe(200);
  });

  it('is claimed by one of many who say yes at once (T-029)', async () => {
    const waiting = await askForCode(gatehouse, client);
    const visitors = Array.from({ length: 6 }, () => createVisitor());
    const pages = await Promise.all(visitors.map((visitor) => enterCode(waiting, visitor)));
    const answers = await Promise.all(
      visitors.map((visitor, at) =>
        visitor.submit(pages[at] ?? { html: '', url: '' }, '/device', [['confirm', 'yes']]),
      ),
    );
    expect(answers.filter(({ html }) => html.includes('name="password"'))).toHaveLength(1);
  });

  it('goes to the account that consents: another one can be chosen on the way', async () => {
    const waiting = await askForCode(gatehouse, client);
    const visitor = createVisitor();
    const consent = await claim(waiting, visitor);
    const login = await visitor.submit(consent, '/switch', []);
    const again = await visitor.submit(login, '/login', [
      ['email', grace.email],
      ['password', grace.password],
    ]);
    expect(again.html).toContain(grace.email);
    const done = await visitor.submit(again, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(done.url).toBe(`${gatehouse.url}/device/done`);
    expect((await poll(gatehouse.url, waiting)).status).toBe(200);
  });

  it('out of a link is shown to be compared, and nothing happens by a GET (T-016)', async () => {
    const waiting = await askForCode(gatehouse, client);
    const visitor = createVisitor();
    const page = await visitor.open(`${waiting.completeUrl}&confirm=yes&abort=yes`);
    expect(page.html).toContain('Does your device show exactly this code?');
    expect(page.html).toContain(waiting.userCode);
    expect(page.html).not.toContain('<script');
    expect(await errorOf(waiting)).toBe('authorization_pending');
    const confirm = await visitor.submit(page, '/device', []);
    expect(confirm.html).toContain('Is this your device?');
    expect(
      (await visitor.open(`${gatehouse.url}/device?user_code=${encodeURIComponent('"><b>x')}`)).html,
    ).not.toContain('<b>');
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['our page with a wrong token', { 'sec-fetch-site': 'same-origin' }, 400],
  ])('is not taken from %s, nor without a session (T-014, T-029)', async (_who, headers, status) => {
    const waiting = await askForCode(gatehouse, client);
    const visitor = createVisitor();
    await visitor.open(waiting.url);
    for (const browser of [visitor, createVisitor()]) {
      const response = await browser.request(`${gatehouse.url}/device`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ user_code: waiting.userCode, confirm: 'yes', xsrf: 'x' }).toString(),
      });
      expect([response.status, response.headers.get('location')]).toEqual([status, null]);
    }
    expect((await enterCode(waiting, createVisitor())).html).toContain('Is this your device?');
  });
});
