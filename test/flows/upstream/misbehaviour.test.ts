// What of an upstream is refused, end to end: over src/authorization-server/upstream-login/upstream-callback.ts.
import { describe, expect, it } from 'vitest';
import { type Fault, faults } from '../../support/upstreams/front.ts';
import type { OpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar, upstreamClient } from '../../support/upstreams/people.ts';
import { createUpstreamKey, signedBySecret, unsigned } from '../../support/upstreams/signing.ts';
import {
  approve,
  audited,
  begin,
  choose,
  comeBack,
  goThere,
  type Person,
  person,
  type Scene,
  type Seen,
  startScene,
} from './subject.ts';

const secondsNow = (): number => Math.floor(Date.now() / 1000);

/** Nobody is logged in, linked or given anything, and neither page nor log repeats what the upstream sent. */
async function expectNothing(
  scene: Scene,
  page: Seen,
  comer: Person,
  words: string,
  reason: string,
): Promise<void> {
  const { gatehouse, work } = scene;
  expect(page.response.headers.get('location')).toBeNull();
  expect(page.html).toContain(words);
  expect(await audited(scene, 'upstream.refused')).toMatchObject([{ upstream: 'work', reason }]);
  const rows = await gatehouse.storage.audit.read({ limit: 1000 });
  const good = ['login.succeeded', 'account.created', 'consent.granted'];
  expect(rows.filter(({ event }) => good.includes(event))).toEqual([]);
  expect(await gatehouse.storage.accounts.findByEmail(lin.email)).toBeUndefined();
  expect(await gatehouse.storage.accounts.findByEmail(omar.email)).toBeUndefined();
  expect((await gatehouse.storage.upstreams.list('work', { limit: 10 })).length).toBe(0);
  expect([...comer.visitor.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
  const told = [page.html, ...gatehouse.log].join('\n');
  for (const canary of [...work.issued, upstreamClient.clientSecret, 'canary', 'alert(1)', '    at '])
    expect(told.includes(canary), canary.slice(0, 20)).toBe(false);
}

/** What the client hears when the person gives up. */
async function leave(page: Seen, { visitor }: Person): Promise<Record<string, string>> {
  const { response } = await visitor.submit(page, '/leave', []);
  return Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams);
}

const refused = 'could not be accepted';
const unavailable = 'cannot be reached at the moment';

describe('an ID token that fails in anything logs nobody in, and the person is told the same sentence', () => {
  type Alter = Parameters<OpenIdUpstream['alterIdTokens']>[0];
  it.each<[string, string, Alter]>([
    [
      'of another issuer',
      'jwt_issuer',
      (claims, key) => key.sign({ ...claims, iss: 'https://evil.example' }),
    ],
    ['for somebody else', 'jwt_audience', (claims, key) => key.sign({ ...claims, aud: 'another' })],
    [
      'issued to another client',
      'jwt_authorized_party',
      (claims, key) => key.sign({ ...claims, aud: [String(claims.aud), 'another'], azp: 'another' }),
    ],
    ['of another login', 'jwt_nonce', (claims, key) => key.sign({ ...claims, nonce: 'another' })],
    ['that has expired', 'jwt_expired', (claims, key) => key.sign({ ...claims, exp: secondsNow() - 3_600 })],
    [
      'from the future',
      'jwt_from_future',
      (claims, key) => key.sign({ ...claims, iat: secondsNow() + 3_600 }),
    ],
    ['that nobody signed', 'jwt_algorithm', (claims) => unsigned(claims)],
    [
      'signed with our own secret',
      'jwt_algorithm',
      (claims) => signedBySecret(claims, upstreamClient.clientSecret),
    ],
    ['signed with a foreign key', 'jwt_key', async (claims) => (await createUpstreamKey()).sign(claims)],
    [
      'with a wrong signature',
      'jwt_signature',
      async (claims, { kid }) => (await createUpstreamKey()).sign(claims, { kid }),
    ],
    ['that is none', 'jwt_malformed', () => 'canary.canary.canary'],
  ])('%s (T-085)', async (_what, reason, alter) => {
    const scene = await startScene();
    const lina = person();
    const flow = await begin(scene);
    const callback = await goThere(flow, lina);
    scene.work.alterIdTokens(alter);
    const page = await comeBack(callback, lina);
    await expectNothing(scene, page, lina, refused, reason);
    expect(await leave(page, lina)).toMatchObject({
      error: 'server_error',
      state: flow.state,
      iss: scene.gatehouse.url,
    });
  });
});

describe('a callback that is not the upstream’s is refused before the code is sent anywhere', () => {
  it.each<[string, string, (url: URL) => void]>([
    ['of another issuer', 'callback_issuer', (url) => url.searchParams.set('iss', 'https://evil.example')],
    ['of none, though it is promised', 'callback_issuer_missing', (url) => url.searchParams.delete('iss')],
    ['with two codes', 'callback_malformed', (url) => url.searchParams.append('code', 'x')],
  ])('%s (T-087)', async (_what, reason, change) => {
    const scene = await startScene();
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    change(callback);
    await expectNothing(scene, await comeBack(callback, lina), lina, refused, reason);
    expect(scene.work.asked.authorization_code).toBe(0);
  });
});

describe('an upstream that fails is told apart from one that says no, and never repeated', () => {
  it('the person’s no there is access_denied for the client, at once (T-084, A10-03)', async () => {
    const scene = await startScene();
    const lina = person();
    const flow = await begin(scene);
    const { response } = await comeBack(await goThere(flow, lina, 'deny'), lina);
    expect(Object.fromEntries(new URL(response.headers.get('location') ?? '').searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'the person did not log in',
      state: flow.state,
      iss: scene.gatehouse.url,
    });
    expect(await audited(scene, 'upstream.refused')).toMatchObject([{ reason: 'denied' }]);
  });

  it.each<[string, string, string]>([
    ['server_error', unavailable, 'server_error'],
    ['temporarily_unavailable', unavailable, 'server_error'],
    ['invalid_scope', refused, 'callback_error'],
    ['<script>alert(1)</script>', refused, 'callback_error'],
  ])('an error %s at the callback is a page of ours (T-084)', async (error, words, reason) => {
    const scene = await startScene();
    const lina = person();
    const flow = await begin(scene);
    const callback = await goThere(flow, lina);
    callback.searchParams.delete('code');
    callback.searchParams.set('error', error);
    callback.searchParams.set('error_description', '<script>alert(1)</script> canary');
    const page = await comeBack(callback, lina);
    await expectNothing(scene, page, lina, words, reason);
    const told = await leave(page, lina);
    expect(told.error).toBe(words === refused ? 'server_error' : 'temporarily_unavailable');
    expect(told.state).toBe(flow.state);
    expect(JSON.stringify(told)).not.toMatch(/<script|alert|canary/);
  });

  it.each<[string, Fault, string, string]>([
    ['a page with status 500', faults.page(500), unavailable, 'server_error'],
    ['no JSON', faults.notJson(), refused, 'token_no_object'],
    ['a redirect elsewhere', faults.redirect('https://evil.example/token'), refused, 'redirected'],
    ['without an end', faults.huge(), refused, 'too_large'],
    ['invalid_client', faults.json(401, { error: 'invalid_client' }), refused, 'client_refused'],
  ])('a token endpoint that answers %s gives nothing (T-084)', async (_what, fault, words, reason) => {
    const scene = await startScene();
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    scene.work.fault('/token', fault);
    await expectNothing(scene, await comeBack(callback, lina), lina, words, reason);
  });

  it('one that never answers is given up after ten seconds, and the login can be tried again (T-084)', async () => {
    const scene = await startScene();
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    scene.work.fault('/token', faults.silent());
    const began = Date.now();
    const page = await comeBack(callback, lina);
    expect(Date.now() - began).toBeLessThan(12_000);
    await expectNothing(scene, page, lina, unavailable, 'timed_out');
    scene.work.behave();
    const again = await lina.visitor.submit(page, '/again', []);
    const { response } = await comeBack(await lina.walker.walk(await approve(again, lina), lin), lina);
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
  });

  it.each<[string, (work: OpenIdUpstream) => void, string, string]>([
    ['is down', (work) => void work.fault(metadata, faults.page(503)), unavailable, 'server_error'],
    [
      'has metadata of another issuer',
      (work) => work.alter(metadata, (found) => ({ ...found, issuer: 'https://evil.example' })),
      refused,
      'metadata_issuer',
    ],
    [
      'names a token endpoint on another host',
      (work) => work.alter(metadata, (found) => ({ ...found, token_endpoint: 'https://evil.example/token' })),
      refused,
      'metadata_endpoint_host',
    ],
  ])(
    'one that %s is asked nothing, and no state or cookie is made (T-084, T-088)',
    async (_what, break_, words, reason) => {
      const scene = await startScene();
      break_(scene.work);
      const lina = person();
      const page = await choose(await lina.visitor.open((await begin(scene)).url), lina);
      const told = await lina.visitor.submit(page, '/approve', [
        ['decision', 'allow'],
        ['scope', 'notes:read'],
      ]);
      await expectNothing(scene, told, lina, words, reason);
      expect([...lina.visitor.cookies.keys()].filter((name) => name.includes('gatehouse-upstream'))).toEqual(
        [],
      );
      expect(await audited(scene, 'upstream.begun')).toEqual([]);
    },
  );

  it('one before which nothing was left ticked is asked nothing, and the app is denied access', async () => {
    const scene = await startScene();
    const lina = person();
    const page = await choose(await lina.visitor.open((await begin(scene)).url), lina);
    const { response } = await lina.visitor.submit(page, '/approve', [['decision', 'allow']]);
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    expect(searchParams.get('error')).toBe('access_denied');
    expect(await audited(scene, 'upstream.begun')).toEqual([]);
    expect(await audited(scene, 'consent.denied')).toHaveLength(1);
  });

  it('one that speaks of somebody else than its ID token logs nobody in (T-085)', async () => {
    const scene = await startScene();
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    scene.work.alter('/me', (body) => ({ ...body, sub: omar.sub }));
    const page = await comeBack(callback, lina);
    await expectNothing(scene, page, lina, refused, 'user_info_subject');
  });

  it('one that changes its keys in between is believed', async () => {
    const scene = await startScene();
    const lina = person();
    const callback = await goThere(await begin(scene), lina);
    await scene.work.rotateKeys();
    const { response } = await comeBack(callback, lina);
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
  });
});

const metadata = '/.well-known/openid-configuration';
