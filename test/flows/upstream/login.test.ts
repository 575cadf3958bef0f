// Walks src/authorization-server/upstream-login/upstream-login.ts, src/authorization-server/upstream-login/authorization-steps.ts,
// src/authorization-server/upstream-login/consent-through.ts, src/authorization-server/interactions/make-grant.ts and
// src/authorization-server/interactions/make-grant.ts.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { ada } from '../../support/gatehouse.ts';
import { authorization, openConsent, redeem, register, type Tokens, tryAccess } from '../../support/oauth.ts';
import { lin, omar, upstreamClient } from '../../support/upstreams/people.ts';
import { createVisitor } from '../../support/visitor.ts';
import {
  approve,
  audited,
  begin,
  choose,
  comeBack,
  goThere,
  letGo,
  logIn,
  person,
  startScene,
} from './subject.ts';

const noted = async (
  scene: Awaited<ReturnType<typeof startScene>>,
  url: URL,
  flow: Awaited<ReturnType<typeof begin>>,
) => {
  const response = await redeem(scene.gatehouse.url, flow, url.searchParams.get('code') ?? '');
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens & { id_token?: string };
};

describe('somebody who logs in at an upstream', () => {
  it('comes back as an account of ours, and the client gets a code and tokens of ours (A10-01)', async () => {
    const scene = await startScene();
    const flow = await begin(scene);
    const sent = await logIn(flow, person());
    expect(sent.href).toContain(flow.redirectUri);
    expect(sent.searchParams.get('state')).toBe(flow.state);
    expect(sent.searchParams.get('iss')).toBe(scene.gatehouse.url);
    const tokens = await noted(scene, sent, flow);
    expect(tokens.scope).toBe('notes:read notes:write');
    expect(await tryAccess(scene.gatehouse.mcpUrl, tokens.access_token)).toBe(200);
    const account = await scene.gatehouse.storage.accounts.findByEmail(lin.email);
    expect(account).toBeDefined();
    for (const event of ['upstream.begun', 'account.created', 'login.succeeded', 'consent.granted'])
      expect(await audited(scene, event), event).toMatchObject([{ upstream: 'work' }]);
  });

  it('is the same account each time, and what the app is given hangs on the login there', async () => {
    const scene = await startScene();
    const { storage } = scene.gatehouse;
    for (const flow of [await begin(scene), await begin(scene)])
      await noted(scene, await logIn(flow, person()), flow);
    const accounts = (await storage.accounts.list()).filter(({ email }) => email === lin.email);
    expect(accounts).toHaveLength(1);
    const grants = await storage.artifacts.listGrants(accounts[0]?.id ?? '');
    const bonds = await Promise.all(grants.map(({ id }) => storage.upstreams.bondOf(id)));
    expect(new Set(bonds.map((bond) => bond?.linkId)).size).toBe(1);
    expect(new Set(bonds.map((bond) => bond?.sessionId)).size).toBe(2);
  });

  it('does so with the secret of this client in a variable of the environment; without it nothing starts (T-093)', async () => {
    const clientSecret = { env: 'SECRET_AT_WORK' };
    await expect(startScene({ clientSecret })).rejects.toMatchObject({
      problems: ['upstreams.work.clientSecret: the environment has no SECRET_AT_WORK: set it'],
    });
    vi.stubEnv('SECRET_AT_WORK', upstreamClient.clientSecret);
    onTestFinished(() => void vi.unstubAllEnvs());
    const scene = await startScene({ clientSecret });
    const flow = await begin(scene);
    await noted(scene, await logIn(flow, person()), flow);
    expect(scene.gatehouse.log.join('')).not.toContain(upstreamClient.clientSecret);
  });

  it('gives only what they left ticked on the page before', async () => {
    const scene = await startScene();
    const flow = await begin(scene);
    const lina = person();
    const page = await choose(await lina.visitor.open(flow.url), lina);
    const callback = await lina.walker.walk(await approve(page, lina, ['notes:read']), lin);
    const { response } = await comeBack(callback, lina);
    const tokens = await noted(scene, new URL(response.headers.get('location') ?? ''), flow);
    expect(tokens.scope).toBe('notes:read');
  });

  it('tells the client nothing of where they logged in', async () => {
    const scene = await startScene();
    const flow = await begin(scene, { scope: 'openid notes:read', nonce: 'n1' });
    const tokens = await noted(scene, await logIn(flow, person()), flow);
    const claims = JSON.parse(
      Buffer.from(tokens.id_token?.split('.')[1] ?? '', 'base64url').toString(),
    ) as Record<string, unknown>;
    expect(claims).toMatchObject({ nonce: 'n1' });
    expect(Object.keys(claims)).not.toEqual(expect.arrayContaining(['acr']));
    expect(JSON.stringify(claims)).not.toMatch(/upstream|1001|work/);
  });

  it('is sent to the upstream of their domain at once, and may choose another way', async () => {
    const scene = await startScene({ domains: ['work.example'] });
    const lina = person();
    const page = await lina.visitor.open((await begin(scene, { login_hint: lin.email })).url);
    expect(page.html).toContain('Continue to Work');
    const login = await lina.visitor.submit(page, '/other', []);
    expect(login.html).toContain('name="password"');
    expect(login.html).toContain('Log in with Work');
  });

  it('finds no other login where the resource wants this upstream', async () => {
    const port = await freePort();
    const scene = await startScene({ resources: [`http://localhost:${port}/mcp`] }, { port });
    const lina = person();
    const flow = await begin(scene);
    const page = await lina.visitor.open(flow.url);
    expect(page.html).toContain('Continue to Work');
    expect(page.html).not.toContain('another way');
    const login = { ...page, html: page.html.replace('/approve"', '/login"') };
    const refused = await lina.visitor.submit(login, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    expect(refused.response.status).toBe(400);
    await noted(scene, await logIn(flow, lina), flow);
    // Who is logged in here already has to go there all the same.
    const visitor = createVisitor();
    const rest = await visitor.open(
      authorization(scene.gatehouse, flow.clientId, { resource: `${scene.gatehouse.url}/rest` }).url,
    );
    await visitor.submit(rest, '/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    const adas = { ...person(), visitor };
    const consent = await visitor.open(authorization(scene.gatehouse, flow.clientId).url);
    expect(consent.html).toContain('you continue to Work next');
    expect(consent.html).toContain('openid profile email groups');
    const there = await approve(consent, adas, ['notes:read'], '/consent');
    expect(new URL(there).origin).toBe(scene.work.url);
  });
});

describe('a browser in which somebody is logged in through an upstream', () => {
  it('is asked for consent with the upstream named, and the upstream is not asked again', async () => {
    const scene = await startScene();
    const lina = person();
    await logIn(await begin(scene), lina);
    const before = scene.work.requests.length;
    const flow = await begin(scene);
    const page = await lina.visitor.open(flow.url);
    expect(page.html).toContain('through Work');
    const { response } = await lina.visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    const tokens = await noted(scene, new URL(response.headers.get('location') ?? ''), flow);
    expect(tokens.scope).toBe('notes:read');
    expect(scene.work.requests).toHaveLength(before);
    const account = await scene.gatehouse.storage.accounts.findByEmail(lin.email);
    const grants = await scene.gatehouse.storage.artifacts.listGrants(account?.id ?? '');
    const bonds = await Promise.all(grants.map(({ id }) => scene.gatehouse.storage.upstreams.bondOf(id)));
    expect(bonds.map((bond) => bond?.sessionId)).toEqual([bonds[0]?.sessionId, bonds[0]?.sessionId]);
  });

  it('is sent to the upstream after the consent where its tokens are not held any more', async () => {
    const scene = await startScene();
    const lina = person();
    const first = await begin(scene);
    const tokens = await noted(scene, await logIn(first, lina), first);
    const { storage, url } = scene.gatehouse;
    const account = await storage.accounts.findByEmail(lin.email);
    for (const { id } of await storage.artifacts.listGrants(account?.id ?? ''))
      await storage.artifacts.revokeGrant(id);
    expect(await tryAccess(scene.gatehouse.mcpUrl, tokens.access_token)).toBe(401);
    await storage.upstreams.releaseUnheld(Math.floor(Date.now() / 1000) + 3600);
    // Giving back the old tokens would take a login that is under way there along.
    await expect.poll(() => scene.work.revoked.length).toBe(1);
    const flow = await begin(scene);
    const page = await lina.visitor.open(flow.url);
    expect(page.html).toContain('you continue to Work next');
    const there = await approve(page, lina, ['notes:read'], '/consent');
    expect(new URL(there).origin).toBe(scene.work.url);
    const { response } = await comeBack(await lina.walker.walk(there, lin), lina);
    const sent = new URL(response.headers.get('location') ?? url);
    expect((await noted(scene, sent, flow)).scope).toBe('notes:read');
  });

  it('can be used by another account: the upstream is asked to let them choose', async () => {
    const scene = await startScene();
    const lina = person();
    await logIn(await begin(scene), lina);
    const flow = await begin(scene);
    const login = await lina.visitor.submit(await lina.visitor.open(flow.url), '/switch', []);
    const page = await choose(login, lina);
    const there = await approve(page, lina);
    expect(new URL(there).searchParams.get('prompt')).toBe('login');
    // Somebody else sits there now.
    const other = { ...person(omar), visitor: lina.visitor };
    const { response } = await comeBack(await other.walker.walk(there, omar), other);
    await noted(scene, new URL(response.headers.get('location') ?? ''), flow);
    const omars = await scene.gatehouse.storage.accounts.findByEmail(omar.email);
    expect(await scene.gatehouse.storage.artifacts.listGrants(omars?.id ?? '')).toHaveLength(1);
  });

  it('asks whoever came back, where it is not who allowed the app (T-079)', async () => {
    const scene = await startScene();
    const lina = person();
    await logIn(await begin(scene), lina);
    await letGo(scene);
    const flow = await begin(scene);
    const there = await approve(await lina.visitor.open(flow.url), lina, ['notes:read'], '/consent');
    const callback = await person(omar).walker.walk(there, omar);
    const page = await comeBack(callback, lina);
    expect(page.html).toContain(omar.email);
    expect(page.html).toContain('name="decision" value="allow"');
    const { storage } = scene.gatehouse;
    expect(
      await storage.artifacts.listGrants((await storage.accounts.findByEmail(omar.email))?.id ?? ''),
    ).toEqual([]);
  });
});

it('a login goes on where the server was restarted while somebody was at the upstream', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  try {
    const first = await startScene({}, { folder });
    const lina = person();
    const flow = await begin(first);
    const callback = await goThere(flow, lina);
    const port = Number(new URL(first.gatehouse.url).port);
    await first.gatehouse.stop();
    const { startGatehouse } = await import('../../support/gatehouse.ts');
    const again = await startGatehouse({
      folder,
      port,
      dangerously: { upstreamsOverHttp: true },
      upstreams: { work: first.work.settings({ accounts: { create: true } }) },
    } as never);
    try {
      const { response } = await comeBack(callback, lina);
      const sent = new URL(response.headers.get('location') ?? '');
      expect(sent.searchParams.get('code')).toBeTruthy();
    } finally {
      await again.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('an app that registered into its id comes through an upstream like any other', async () => {
  const scene = await startScene({}, { clients: { sealedIds: true } } as never);
  const { client_id } = await register(scene.gatehouse.url);
  const flow = authorization(scene.gatehouse, client_id);
  await noted(scene, await logIn(flow, person()), flow);
  expect(client_id.length).toBeGreaterThan(100);
});

it('people with an account here log in as ever beside it', async () => {
  const scene = await startScene();
  const page = await openConsent(await begin(scene), createVisitor());
  expect(page.html).toContain('name="decision" value="allow"');
  expect(page.html).not.toContain('through Work');
});
