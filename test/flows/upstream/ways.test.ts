import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { authorization, redeem, tryAccess } from '../../support/oauth.ts';
import { startGithubLikeUpstream } from '../../support/upstreams/github-like.ts';
import { startGoogleLikeUpstream } from '../../support/upstreams/google-like.ts';
import { lin } from '../../support/upstreams/people.ts';
import { askForCode, enterCode, poll, registerDevice } from '../device/subject.ts';
import { approve, audited, begin, choose, comeBack, goThere, logIn, person, startScene } from './subject.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('a device is connected by somebody who logs in at an upstream (A10-01)', async () => {
  const scene = await startScene();
  const { gatehouse } = scene;
  const waiting = await askForCode(gatehouse, await registerDevice(gatehouse.url));
  const lina = person();
  const claimed = await lina.visitor.submit(await enterCode(waiting, lina.visitor), '/device', [
    ['confirm', 'yes'],
  ]);
  const page = await choose(claimed, lina);
  expect(page.html).toContain('the device that shows the code');
  const callback = await lina.walker.walk(await approve(page, lina), lin);
  const done = await comeBack(callback, lina);
  expect(done.url).toContain('/device/done');
  const { status, body } = await poll(gatehouse.url, waiting);
  expect(status).toBe(200);
  expect(await tryAccess(gatehouse.mcpUrl, body.access_token ?? '')).toBe(200);
});

it('an app that is described by a document comes through an upstream', async () => {
  trustDocumentHosts();
  const host = await startDocumentHost();
  try {
    const scene = await startScene({}, { dangerously: { upstreamsOverHttp: true, fetchFromLoopback: true } });
    const clientId = host.publish('/client.json');
    const flow = authorization(scene.gatehouse, clientId, {
      redirect_uri: 'http://localhost:49152/callback',
    });
    const sent = await logIn(flow, person());
    const tokens = await redeem(scene.gatehouse.url, flow, sent.searchParams.get('code') ?? '');
    expect(tokens.status).toBe(200);
  } finally {
    await host.stop();
  }
});

it('who takes longer than ten minutes at the upstream has to begin again (T-080, A11-06)', async () => {
  const scene = await startScene();
  const lina = person();
  const callback = await goThere(await begin(scene), lina);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 });
  const { response } = await comeBack(callback, lina);
  expect(response.status).toBe(400);
  vi.useRealTimers();
  expect(await audited(scene, 'upstream.refused')).toMatchObject([{ reason: 'state_expired' }]);
  expect(scene.work.asked.authorization_code).toBe(0);
});

it('who comes back after the app has gone on without them finds the login ended', async () => {
  const scene = await startScene();
  const lina = person();
  const flow = await begin(scene);
  const page = await choose(await lina.visitor.open(flow.url), lina);
  const callback = await lina.walker.walk(await approve(page, lina), lin);
  const login = await lina.visitor.submit(page, '/other', []);
  await lina.visitor.submit(login, '/cancel', []);
  const { response, html } = await comeBack(callback, lina);
  expect(response.status).toBe(400);
  expect(html).toContain('This login has ended');
  expect(scene.work.asked.authorization_code).toBe(0);
  expect(await audited(scene, 'login.succeeded')).toEqual([]);
});

it.each([
  ['GitHub: no ID token, no refresh token, no expiry', startGithubLikeUpstream],
  ['Google: a refresh token with its consent page alone', startGoogleLikeUpstream],
] as const)('people come through an upstream like %s', async (_what, start) => {
  const hub = await start();
  onTestFinished(() => hub.stop());
  const scene = await startScene({}, {
    upstreams: { hub: hub.settings({ accounts: { create: true } }) },
  } as never);
  hub.allow(`${scene.gatehouse.url}/upstream/hub/callback`);
  const accounts = [];
  for (const flow of [await begin(scene), await begin(scene)]) {
    const lina = person();
    const page = await choose(await lina.visitor.open(flow.url), lina, 'hub');
    const callback = await lina.walker.walk(await approve(page, lina), lin);
    const { response } = await comeBack(callback, lina);
    const sent = new URL(response.headers.get('location') ?? '');
    const tokens = await redeem(scene.gatehouse.url, flow, sent.searchParams.get('code') ?? '');
    expect(tokens.status).toBe(200);
    accounts.push(...(await audited(scene, 'login.succeeded')).map(({ accountId }) => accountId));
  }
  expect(new Set(accounts).size).toBe(1);
});

it('an app that was taken out while its person was at the upstream gets nothing', async () => {
  const scene = await startScene({}, { clients: { sealedIds: false } } as never);
  const lina = person();
  const flow = await begin(scene);
  const callback = await goThere(flow, lina);
  await scene.gatehouse.administration.clients.remove(flow.clientId);
  const { response, html } = await comeBack(callback, lina);
  expect(response.status).toBe(400);
  expect(html).toContain('This login has ended');
  expect(scene.work.asked.authorization_code).toBe(0);
});
