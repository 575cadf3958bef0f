import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, redeem, register } from '../../support/oauth.ts';
import { expectAccepted, expectErrorPage } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
let native: string;
let web: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  native = (await register(gatehouse.url, { redirect_uris: ['http://127.0.0.1:53682/callback'] })).client_id;
  web = (await register(gatehouse.url, { redirect_uris: ['https://app.example.com/cb?x=1'] })).client_id;
});
afterAll(() => gatehouse.stop());

function ask(clientId: string, parameters: Record<string, string | undefined>): Promise<Response> {
  return createVisitor().request(authorization(gatehouse, clientId, parameters).url);
}

async function expectNothingIssued(attempt: () => Promise<unknown>): Promise<void> {
  const before = await countIssued(gatehouse.folder);
  await attempt();
  expect(await countIssued(gatehouse.folder)).toEqual(before);
}

describe('a redirect URI', () => {
  it('is accepted when it equals a registered one (T-001)', async () => {
    expectAccepted(await ask(web, { redirect_uri: 'https://app.example.com/cb?x=1' }), gatehouse.url);
  });

  it.each([
    'https://app.example.com/cb',
    'https://app.example.com/cb?x=1&y=2',
    'https://app.example.com/cb?x=2',
    'https://app.example.com/cb/?x=1',
    'https://app.example.com/CB?x=1',
    'https://APP.example.com/cb?x=1',
    'https://app.example.com:443/cb?x=1',
    'https://app.example.com:8443/cb?x=1',
    'http://app.example.com/cb?x=1',
    'https://app.example.com/cb?x=1#',
    'https://app.example.com/cb?x=1#fragment',
    'https://app.example.com/./cb?x=1',
    'https://app.example.com/%63b?x=1',
    'https://app.example.com./cb?x=1',
    'https://user@app.example.com/cb?x=1',
    'https://app.example.com@evil.example/cb?x=1',
    'https://app.example.com.evil.example/cb?x=1',
    'https://evil.example/?https://app.example.com/cb?x=1',
    'https://app.example.com\\@evil.example/cb?x=1',
    '//app.example.com/cb?x=1',
    '/cb?x=1',
    ' https://app.example.com/cb?x=1',
    'https://app.example.com/cb?x=1\n',
    '',
  ])(
    'that differs from the registered one is a 400 page without redirect: %j (T-001, A6-03, A6-05, A11-05)',
    async (uri) => {
      await expectNothingIssued(async () => {
        const code = uri === '' ? 'invalid_request' : 'invalid_redirect_uri';
        const page = await expectErrorPage(await ask(web, { redirect_uri: uri }), code);
        expect(page).not.toContain('evil.example');
        expect(page).not.toContain('<a ');
      });
    },
  );

  it('is needed even when only one is registered (T-001)', async () => {
    await expectErrorPage(await ask(web, { redirect_uri: undefined }), 'invalid_request');
  });

  it('that is sent twice is a 400 page (T-001)', async () => {
    const { url } = authorization(gatehouse, native);
    const twice = `${url}&redirect_uri=${encodeURIComponent('https://evil.example/cb')}`;
    const page = await expectErrorPage(await createVisitor().request(twice), 'invalid_request');
    expect(page).not.toContain('evil.example');
  });

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    '\njavascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:msgbox(1)',
    'blob:https://app.example.com/1',
    'file:///etc/passwd',
    'about:blank',
  ])('that would run or render is refused and never a link: %j (T-003)', async (uri) => {
    await expectNothingIssued(async () => {
      const page = await expectErrorPage(await ask(native, { redirect_uri: uri }), 'invalid_redirect_uri');
      expect(page).not.toContain('<a ');
      expect(page).not.toMatch(/script:|data:text|blob:|file:|about:/i);
    });
  });
});

describe('a loopback redirect URI', () => {
  it.each(['http://127.0.0.1:1/callback', 'http://127.0.0.1:65535/callback', 'http://127.0.0.1/callback'])(
    'may come with any port: %s (T-002, A6-02)',
    async (uri) => {
      expectAccepted(await ask(native, { redirect_uri: uri }), gatehouse.url);
    },
  );

  it.each([
    'http://localhost:53682/callback',
    'http://[::1]:53682/callback',
    'http://127.0.0.2:53682/callback',
    'http://127.0.0.1.evil:53682/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://0x7f.1:53682/callback',
    'http://0x7f000001:53682/callback',
    'http://2130706433:53682/callback',
    'http://127.1:53682/callback',
    'http://127.0.0.01:53682/callback',
    'http://0.0.0.0:53682/callback',
    'http://[::ffff:127.0.0.1]:53682/callback',
    'http://localhost.:53682/callback',
    'http://127.0.0.1:53682/other',
    'http://127.0.0.1:53682/callback/',
    'http://127.0.0.1:53682/callback?a=b',
    'https://127.0.0.1:53682/callback',
    'http://user@127.0.0.1:53682/callback',
    'http://127.0.0.1:53682@evil.example/callback',
  ])('keeps its scheme, host and path: %s (T-002, A6-03)', async (uri) => {
    await expectNothingIssued(async () => {
      await expectErrorPage(await ask(native, { redirect_uri: uri }), 'invalid_redirect_uri');
    });
  });

  it('of the name localhost may come with any port as well, on that name alone', async () => {
    const { client_id: byName } = await register(gatehouse.url, {
      redirect_uris: ['http://localhost/callback'],
    });
    expectAccepted(await ask(byName, { redirect_uri: 'http://localhost:40123/callback' }), gatehouse.url);
    await expectErrorPage(
      await ask(byName, { redirect_uri: 'http://127.0.0.1:40123/callback' }),
      'invalid_redirect_uri',
    );
  });

  it('gets the code at the port of the request, and the token request has to name that one', async () => {
    const redirectUri = 'http://127.0.0.1:40999/callback';
    const flow = authorization(gatehouse, native, { redirect_uri: redirectUri });
    const callback = await approve(flow);
    expect(`${callback.origin}${callback.pathname}`).toBe(redirectUri);
    const code = callback.searchParams.get('code') ?? '';
    const other = await redeem(gatehouse.url, flow, code, {
      redirect_uri: 'http://127.0.0.1:53682/callback',
    });
    expect([other.status, ((await other.json()) as { error: string }).error]).toEqual([400, 'invalid_grant']);
    expect((await redeem(gatehouse.url, flow, code)).status).toBe(200);
  });
});

describe('a client', () => {
  it('that is unknown, that was removed or that carries a hostile id gets the same page (T-004, A6-05)', async () => {
    const { client_id: removed } = await register(gatehouse.url);
    await gatehouse.administration.clients.remove(removed);
    const pages: string[] = [];
    for (const id of ['unknown-client', removed, '<script>alert(1)</script>', "'; DROP TABLE clients; --"]) {
      const page = await expectErrorPage(await ask(id, {}), 'invalid_client');
      const shown = /<dt>App identifier<\/dt>\s*<dd><span class="detail">[^<]+<\/span><\/dd>/;
      expect(page).toMatch(shown);
      pages.push(page.replace(shown, '').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'request id'));
    }
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]).toContain('This app is not known here');
    expect(pages[0]).not.toContain('<script>');
    for (const app of ['Claude Code', 'VS Code', 'Cursor', 'Codex', 'mcp-remote'])
      expect(pages[0]).toContain(app);
  });

  it('that is not named at all gets a page (T-004)', async () => {
    await expectErrorPage(await ask(native, { client_id: undefined }), 'invalid_request');
  });
});

describe('an error before anybody has seen a page', () => {
  const evil = 'https://evil.example/landing';

  it.each([
    [{ scope: 'nonsense' }, 'invalid_scope'],
    [{ scope: 'offline_access nonsense', prompt: 'consent' }, 'invalid_scope'],
    [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
  ])(
    'is shown with a way back and not redirected, so that nobody bounces people through us: %j (T-005, A6-05)',
    async (parameters, code) => {
      const { client_id: anyones } = await register(gatehouse.url, { redirect_uris: [evil] });
      const flow = authorization(gatehouse, anyones, { redirect_uri: evil, ...parameters });
      const page = await expectErrorPage(await createVisitor().request(flow.url), code);
      const link = /<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/.exec(page);
      expect(link?.[2]).toBe('Back to the app');
      const back = new URL((link?.[1] ?? '').replaceAll('&amp;', '&'));
      expect(`${back.origin}${back.pathname}`).toBe(evil);
      expect(back.searchParams.get('error')).toBe(code);
      expect(back.searchParams.get('state')).toBe(flow.state);
      expect(back.searchParams.get('iss')).toBe(gatehouse.url);
    },
  );
});
