import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  obtainTokens,
  openConsent,
  post,
  redeem,
  refresh,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { expectAccepted, expectErrorPage, shownCode } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/client-documents/engine-feature.ts, src/authorization-server/engine/configuration.ts and
// src/authorization-server/endpoints/error-page.ts.

const loopback = 'http://localhost:49152/callback';

let host: DocumentHost;
let gatehouse: RunningGatehouse;
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
  gatehouse = await startGatehouse({ dangerously: { fetchFromLoopback: true } });
});
afterAll(async () => {
  await gatehouse.stop();
  await host.stop();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets only the clock of the day go on, from now. */
function passTime(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

const begin = (clientId: string, redirectUri = loopback, more: Record<string, string> = {}) =>
  authorization(gatehouse, clientId, { redirect_uri: redirectUri, ...more });

async function open(clientId: string, redirectUri = loopback): Promise<Response> {
  return createVisitor().request(begin(clientId, redirectUri).url);
}

/** Tokens of a client that is known by its document. */
async function tokensOf(clientId: string): Promise<Tokens> {
  const flow = begin(clientId);
  const code = (await approve(flow)).searchParams.get('code') ?? '';
  const response = await redeem(gatehouse.url, flow, code);
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

describe('a client that is known by a document', () => {
  it('logs its person in, calls and refreshes, without a registration (A5-06, A5-08)', async () => {
    const id = host.publish('/whole-way.json', {}, { 'cache-control': 'max-age=3600' });
    const before = (await countIssued(gatehouse.folder)).clients;
    const tokens = await tokensOf(id);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    const refreshed = await refresh(gatehouse.url, id, tokens.refresh_token);
    expect(refreshed.status).toBe(200);
    const revoked = await post(`${gatehouse.url}/revoke`, { client_id: id, token: tokens.refresh_token });
    expect(revoked.status).toBe(200);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    expect(host.requests.filter((path) => path === '/whole-way.json')).toHaveLength(1);
    expect((await countIssued(gatehouse.folder)).clients).toBe(before);
  });

  it('has a token family for each install: a replay in one ends that one alone (T-040, T-043)', async () => {
    const id = host.publish('/two-installs.json');
    const [one, other] = [await tokensOf(id), await tokensOf(id)];
    const next = (await (await refresh(gatehouse.url, id, one.refresh_token)).json()) as Tokens;
    expect((await refresh(gatehouse.url, id, other.refresh_token)).status).toBe(200);
    passTime(121);
    expect((await refresh(gatehouse.url, id, one.refresh_token)).status).toBe(400);
    expect(await tryAccess(gatehouse.mcpUrl, one.access_token)).toBe(401);
    expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(401);
    expect(await tryAccess(gatehouse.mcpUrl, other.access_token)).toBe(200);
  });

  it.each(['http://localhost:1/callback', 'http://localhost:65535/callback', 'http://localhost/callback'])(
    'with a portless loopback redirect may come back at %s (A5-08, RFC 8252 section 7.3)',
    async (redirectUri) => {
      expectAccepted(await open(host.publish('/ports.json'), redirectUri), gatehouse.url);
    },
  );

  it.each([
    'http://127.0.0.1:49152/callback',
    'http://localhost:49152/other',
    'http://localhost.evil.example/callback',
    'https://localhost/callback',
    'https://evil.example/callback',
  ])('comes back nowhere but where its document says: not at %s (A5-08)', async (redirectUri) => {
    await expectErrorPage(await open(host.publish('/ports.json'), redirectUri), 'invalid_redirect_uri');
  });

  it('in the shape of ChatGPT needs no key, and is refused where it sends an assertion all the same (AS-11, T-050)', async () => {
    const redirectUri = 'https://chatgpt.example/connector/oauth/x';
    const id = host.publish('/oauth/x/client.json', {
      client_name: 'ChatGPT',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: `${host.origin}/jwks.json`,
    });
    const flow = begin(id, redirectUri);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    expect((await redeem(gatehouse.url, flow, code)).status).toBe(200);
    expect(host.requests).not.toContain('/jwks.json');
  });

  it('is ended by an operator like any other', async () => {
    const id = host.publish('/removed.json');
    const { access_token: token } = await tokensOf(id);
    await gatehouse.administration.clients.remove(id);
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(401);
  });
});

describe('a document that is not taken ends the login at a page, and is asked for once', () => {
  const answers: [string, string, Parameters<DocumentHost['serve']>[1]][] = [
    [
      'redirects elsewhere (T-070)',
      'status 302',
      (_q, r) => r.writeHead(302, { location: `${host.origin}/good.json` }).end(),
    ],
    [
      'redirects to itself (T-070)',
      'status 307',
      (q, r) => r.writeHead(307, { location: q.url ?? '' }).end(),
    ],
    [
      'redirects to plain http (T-070)',
      'status 301',
      (_q, r) => r.writeHead(301, { location: 'http://localhost/' }).end(),
    ],
    ['is not there', 'status 404', (_q, r) => r.writeHead(404).end()],
    ['is too large (T-071)', '5120 bytes', (_q, r) => r.end('{'.padEnd(5121))],
    [
      'is compressed (T-071)',
      'compressed',
      (_q, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    ],
    [
      'is no JSON',
      'not JSON',
      (_q, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    ],
    [
      'is of another client (T-072)',
      'its own URL',
      (_q, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"client_id":"x"}'),
    ],
  ];

  it.each(answers)('because it %s', async (what, reason, answer) => {
    const path = `/refused/${encodeURIComponent(what)}`;
    host.serve(path, answer);
    const page = await expectErrorPage(await open(`${host.origin}${path}`), 'invalid_client');
    expect(page).toContain('This app could not be looked up');
    expect(page).toContain(reason);
    expect(host.requests.filter((asked) => asked === path)).toHaveLength(1);
    expect(host.requests).not.toContain('/good.json');
  });

  it.each([
    ['a client secret', { client_secret: 'hunter2' }],
    ['a method with a shared secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['a private key', { jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'hunter2' }] } }],
    ['a redirect that runs', { redirect_uris: ['javascript:alert(1)'] }],
    [
      'a crowd of redirects',
      { redirect_uris: Array.from({ length: 90 }, (_, at) => `https://a.example/${at}`) },
    ],
  ])('because it holds %s; what it held is not shown (T-074)', async (what, members) => {
    const id = host.publish(`/held/${encodeURIComponent(what)}`, members);
    const page = await expectErrorPage(await open(id), 'invalid_client');
    expect(page).not.toContain('hunter2');
    expect(gatehouse.log.join('')).not.toContain('hunter2');
  });

  it('because its host takes too long: in time, for now, and to be tried again (T-071)', async () => {
    host.serve('/silent', () => undefined);
    const begun = performance.now();
    const response = await open(`${host.origin}/silent`);
    expect(performance.now() - begun).toBeLessThan(4_000);
    expect(response.headers.get('retry-after')).toBe('30');
    await expectErrorPage(response, 'temporarily_unavailable', 503);
    expect(host.requests.filter((path) => path === '/silent')).toHaveLength(1);
  });

  it('which the audit log names (T-197)', async () => {
    await open(`${host.origin}/nowhere.json`);
    const line = gatehouse.log.find((entry) => entry.includes('/nowhere.json') && entry.includes('"audit"'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      audit: 'client.document_refused',
      reason: expect.stringContaining('404'),
      address: '127.0.0.1',
    });
  });

  it.each([
    ['http', (at: string) => at.replace('https:', 'http:')],
    ['no path', (at: string) => new URL(at).origin],
    ['a fragment', (at: string) => `${at}#x`],
    ['a user name', (at: string) => at.replace('//', '//u:p@')],
    ['dot segments', (at: string) => at.replace('/good.json', '/a/../good.json')],
    ['dot segments in disguise', (at: string) => at.replace('/good.json', '/a/%2e%2e/good.json')],
    ['a tab inside', (at: string) => at.replace('good', 'go\tod')],
    ['a line feed inside', (at: string) => at.replace('good', 'go\nod')],
    ['a backslash', (at: string) => at.replace('/good', '\\good')],
    ['a name in Unicode', (at: string) => at.replace('localhost', 'ｌocalhost')],
    ['upper case', (at: string) => at.replace('localhost', 'LocalHost')],
  ])('because its URL has %s, and nobody is asked (T-073)', async (_what, change) => {
    const id = host.publish('/good.json');
    const before = host.connections();
    await expectErrorPage(await open(change(id)), 'invalid_client');
    const response = await post(`${gatehouse.url}/token`, {
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_id: change(id),
    });
    expect((await response.json()) as object).toMatchObject({ error: 'invalid_client' });
    expect(host.connections()).toBe(before);
  });
});

describe('the cache of documents', () => {
  it('holds for a login what its document said, and not longer than it may: a redirect that is taken back gets no code (T-075)', async () => {
    const id = host.publish('/changing.json', {}, { 'cache-control': 'max-age=60' });
    const [early, late] = [createVisitor(), createVisitor()];
    const pages = [await openConsent(begin(id), early), await openConsent(begin(id), late)];
    host.publish('/changing.json', { redirect_uris: ['https://elsewhere.example/cb'] });
    const decision: [string, string][] = [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ];
    const first = await early.submit(pages[0] ?? { html: '', url: '' }, '/consent', decision);
    expect(first.response.headers.get('location')).toContain(`${loopback}?code=`);
    passTime(61);
    const second = await late.submit(pages[1] ?? { html: '', url: '' }, '/consent', decision);
    expect(second.response.headers.get('location')).toBeNull();
    expect([second.response.status, shownCode(second.html)]).toEqual([400, 'invalid_redirect_uri']);
  });

  it('carries refreshes over an outage of the host, and ends where the document is gone (T-075)', async () => {
    const id = host.publish('/outage.json', {}, { 'cache-control': 'no-store' });
    let { refresh_token: token } = await tokensOf(id);
    const renew = async (): Promise<Response> => refresh(gatehouse.url, id, token);
    host.serve('/outage.json', (_request, response) => response.writeHead(503).end());
    passTime(31);
    const renewed = await renew();
    expect(renewed.status).toBe(200);
    ({ refresh_token: token } = (await renewed.json()) as Tokens);
    passTime(86_401);
    const unknown = await renew();
    expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await unknown.json()).toMatchObject({ error: 'temporarily_unavailable' });
    host.publish('/outage.json');
    expect((await renew()).status).toBe(200);
    host.serve('/outage.json', (_request, response) => response.writeHead(404).end());
    passTime(301);
    const gone = await renew();
    expect([gone.status, await gone.json()]).toMatchObject([400, { error: 'invalid_client' }]);
  });

  it('outlives a restart (A5-08)', async () => {
    const id = host.publish('/restart.json', {}, { 'cache-control': 'max-age=3600' });
    const each = { dangerously: { fetchFromLoopback: true }, cluster: { port: 0 } };
    const first = await startGatehouse(each);
    const settings = { ...each, folder: first.folder };
    expectAccepted(
      await createVisitor().request(authorization(first, id, { redirect_uri: loopback }).url),
      first.url,
    );
    const second = await startGatehouse(settings);
    expectAccepted(
      await createVisitor().request(authorization(second, id, { redirect_uri: loopback }).url),
      second.url,
    );
    await second.stop();
    await first.stop();
    expect(host.requests.filter((path) => path === '/restart.json')).toHaveLength(1);
  });
});

describe('consent to a client that is known by a document', () => {
  it('shows the host of the document and the one the approval goes to, and warns where that is this computer (T-077)', async () => {
    const id = host.publish('/consent.json', { client_name: 'Well Known App' });
    const { html } = await openConsent(begin(id), createVisitor());
    expect(html).toContain('Well Known App');
    expect(html).toContain(
      `described by <strong>localhost:${host.port}</strong>. Any app on this device can say that.`,
    );
    expect(html).toContain('an app on this computer (localhost)');
    expect(html).toContain('Only continue if you just started this login from an app on this computer.');
  });

  it('is asked each time, and never given silently (T-077)', async () => {
    const id = host.publish('/again.json');
    const visitor = createVisitor();
    await approve(begin(id), { visitor });
    for (const port of [49_152, 50_000]) {
      const again = await visitor.open(begin(id, `http://localhost:${port}/callback`).url);
      expect(again.html).toContain('value="allow"');
    }
    const silent = await visitor.request(begin(id, loopback, { prompt: 'none' }).url);
    expect(silent.headers.get('location')).toContain('error=consent_required');
  });

  it('gives each installation a grant of its own, though they share an id (T-077)', async () => {
    const id = host.publish('/shared.json');
    const one = await tokensOf(id);
    const two = await tokensOf(id);
    await post(`${gatehouse.url}/revoke`, { client_id: id, token: one.refresh_token });
    expect((await refresh(gatehouse.url, id, one.refresh_token)).status).toBe(400);
    expect((await refresh(gatehouse.url, id, two.refresh_token)).status).toBe(200);
  });
});

describe('tokens of a client that registered', () => {
  it('are got as before, documents or not', async () => {
    const { tokens } = await obtainTokens(gatehouse);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });
});
