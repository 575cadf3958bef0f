import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../client/support/folder.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { authorization, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

function registerWith(redirectUris: unknown): Promise<Response> {
  return fetch(`${gatehouse.url}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'A test client', redirect_uris: redirectUris }),
  });
}

async function expectRefused(redirectUris: unknown): Promise<void> {
  const before = (await countIssued(gatehouse.folder)).clients;
  const response = await registerWith(redirectUris);
  const body = (await response.json()) as { error: string; error_description: string };
  expect([response.status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  expect(body.error_description).not.toContain('script');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect((await countIssued(gatehouse.folder)).clients).toBe(before);
}

describe('a redirect URI at registration', () => {
  it.each([
    'https://app.example.com/cb',
    'https://app.example.com/cb?tenant=1',
    'http://127.0.0.1:53682/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:8080/callback',
    'http://localhost:3000/callback',
    'http://localhost/',
    'https://localhost:8443/cb',
    'https://127.0.0.1:8443/cb',
    'https://[::1]/cb',
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'com.example.app:/oauth',
  ])('is taken where it leads to a site, this computer or an app: %s (A6-02, A5-02)', async (uri) => {
    const response = await registerWith([uri]);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ redirect_uris: [uri] });
  });

  it.each([
    'ms-msdt:/id',
    'MS-MSDT:/id',
    'search-ms:query=x',
    'shell:startup',
    'smb://evil.example/share',
    'ldap://evil.example/x',
    'view-source:https://a.example/',
    'filesystem:https://a.example/x',
    'jar:https://a.example/x.jar',
    'chrome://settings',
    'ms-settings:windowsupdate',
    'calculator://x',
    'steam://run/1',
  ])('is refused with what to use if its scheme may start a program: %s (FA-11, T-214)', async (uri) => {
    const response = await registerWith(['https://app.example.com/cb', uri]);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: 'invalid_redirect_uri',
      error_description: expect.stringContaining('such as com.example.app'),
    });
  });

  it('of a scheme that the operator allowed is refused once that is over, for the same client too (FA-11, T-214)', async () => {
    const folder = testFolder();
    const uris = ['myapp://callback', 'https://app.example.com/cb'];
    const first = await startGatehouse({ folder, clients: { redirectSchemes: ['MyApp'] } });
    const both = await register(first.url, { redirect_uris: uris });
    const one = await register(first.url, { redirect_uris: uris.slice(0, 1) });
    const status = async (at: RunningGatehouse, client: string, redirect_uri: string): Promise<number> =>
      (await createVisitor().request(authorization(at, client, { redirect_uri }).url)).status;
    expect(await status(first, one.client_id, 'myapp://callback')).toBe(303);
    await first.stop();
    const second = await startGatehouse({ folder });
    onTestFinished(() => second.stop());
    expect(await status(second, both.client_id, 'https://app.example.com/cb')).toBe(303);
    expect(await status(second, both.client_id, 'myapp://callback')).toBe(400);
    expect(await status(second, one.client_id, 'myapp://callback')).toBe(400);
  });

  it('may be one of several kinds, as editors register them (A5-02)', async () => {
    const uris = [
      'https://vscode.dev/redirect',
      'http://127.0.0.1/',
      'http://localhost:33418/',
      'vscode://auth/cb',
    ];
    const response = await registerWith(uris);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ redirect_uris: uris, application_type: 'native' });
  });

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    '\tjavascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'DATA:text/html;base64,eA==',
    'vbscript:msgbox(1)',
    'blob:https://app.example.com/1',
    'file:///etc/passwd',
    'about:blank',
  ])('that would run or render is invalid_redirect_uri: %j (T-003, T-058)', expectRefused);

  it.each([
    'https://*',
    'https://*.example.com/cb',
    'https://app.example.com/*',
    'https://app.example.com/cb#fragment',
    'https://app.example.com/cb#',
    'https://user@app.example.com/cb',
    'https://user:password@app.example.com/cb',
    'http://app.example.com/cb',
    'http://192.168.1.1/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost.evil.example/cb',
    'http://0.0.0.0/cb',
    'http:/evil',
    'https://',
    'https:\\\\app.example.com\\cb',
    'https://app.example.com/cb with blanks',
    'https://app.example.com/<script>',
    '/cb',
    '//app.example.com/cb',
    'app.example.com',
    '',
    `https://app.example.com/${'x'.repeat(2048)}`,
  ])('that is no exact https, loopback or app URI is invalid_redirect_uri: %j (T-058, A6-02)', expectRefused);

  it.each([
    ['no array', 'https://app.example.com/cb'],
    ['missing', undefined],
    ['null', null],
    ['an object', { 0: 'https://app.example.com/cb', length: 1 }],
    ['empty', []],
    ['a number in an array', [1]],
    ['an array in an array', [['https://app.example.com/cb']]],
    ['an array with a gap', ['https://app.example.com/cb', null]],
    ['an object with toString', [{ toString: 'https://app.example.com/cb' }]],
    ['11 URIs', Array.from({ length: 11 }, (_, index) => `https://app.example.com/${index}`)],
    ['1,000 URIs', Array.from({ length: 1000 }, (_, index) => `https://a.example/${index}`)],
  ])('list that is %s is invalid_redirect_uri (T-058)', async (_what, value) => {
    // One good URI never carries a bad one along.
    await expectRefused(value);
  });

  it('of 100 KB is refused, by the size of the body (T-058, T-062)', async () => {
    const response = await registerWith([`https://app.example.com/${'x'.repeat(100_000)}`]);
    expect(response.status).toBe(413);
  });

  it('that is bad spoils the whole registration, wherever it stands (T-058)', async () => {
    for (const uris of [
      ['https://app.example.com/cb', 'javascript:alert(1)'],
      ['javascript:alert(1)', 'https://app.example.com/cb'],
      ['http://127.0.0.1/cb', 'http://app.example.com/cb'],
    ])
      await expectRefused(uris);
  });
});
