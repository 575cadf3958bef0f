// Who may come in, as whom, and with which scopes; src/authorization-server/upstream-login/purposes.ts names the reasons.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { freePort } from '../../support/free-port.ts';
import { ada, startGatehouse } from '../../support/gatehouse.ts';
import { redeem, type Tokens } from '../../support/oauth.ts';
import { startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, mallory, omar, type UpstreamPerson } from '../../support/upstreams/people.ts';
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
  type Scene,
  startScene,
} from './subject.ts';

/** Somebody comes, and is told in general words that they may not. */
async function expectTurnedAway(scene: Scene, who: UpstreamPerson, reason: string): Promise<void> {
  const flow = await begin(scene);
  const comer = person(who);
  const page = await comeBack(await goThere(flow, comer), comer);
  expect(page.response.headers.get('location')).toBeNull();
  expect(page.html).toContain('this login is not allowed here');
  expect(page.html.replace(/<style>[\s\S]*<\/style>/, '')).not.toMatch(/domain|group|claim|taken|disabled/i);
  expect(await audited(scene, 'upstream.refused')).toMatchObject([{ upstream: 'work', reason }]);
  expect(await audited(scene, 'login.succeeded')).toEqual([]);
  const { response } = await comer.visitor.submit(page, '/leave', []);
  const sent = new URL(response.headers.get('location') ?? '');
  expect(Object.fromEntries(sent.searchParams)).toMatchObject({
    error: 'access_denied',
    state: flow.state,
    iss: scene.gatehouse.url,
  });
  // What the upstream gave for them is of no use to anybody.
  expect(scene.work.revoked.length).toBe(1);
}

describe('admission', () => {
  it('by domain lets in only verified addresses of that domain', async () => {
    const scene = await startScene({ accounts: { create: true, allow: { domains: ['work.example'] } } });
    const flow = await begin(scene);
    expect((await logIn(flow, person(lin))).searchParams.get('code')).toBeTruthy();
    const other = await startScene({ accounts: { create: true, allow: { domains: ['work.example'] } } });
    await expectTurnedAway(other, omar, 'domain_not_allowed');
    expect(await other.gatehouse.storage.accounts.findByEmail(omar.email)).toBeUndefined();
  });

  it('by claim lets in only who has it', async () => {
    const scene = await startScene({
      accounts: { create: true, allow: { claims: { groups: ['engineering'] } } },
    });
    await expectTurnedAway(scene, omar, 'claims_not_allowed');
    expect((await logIn(await begin(scene), person(lin))).searchParams.get('code')).toBeTruthy();
  });

  it('by the claim email lets in only whose address was verified (T-089)', async () => {
    const scene = await startScene({
      accounts: { create: true, allow: { claims: { email: ['ada@example.com', 'lin@work.example'] } } },
    });
    await expectTurnedAway(scene, mallory, 'claims_not_allowed');
    expect((await logIn(await begin(scene), person(lin))).searchParams.get('code')).toBeTruthy();
  });

  it('makes no accounts where the operator wants none', async () => {
    await expectTurnedAway(await startScene({ accounts: { create: false } }), lin, 'accounts_not_created');
  });

  it('lets another account of the upstream be tried after that', async () => {
    const scene = await startScene({ accounts: { create: true, allow: { domains: ['work.example'] } } });
    const comer = person(omar);
    const flow = await begin(scene);
    const page = await comeBack(await goThere(flow, comer), comer);
    const again = await comer.visitor.submit(page, '/again', []);
    expect(again.html).toContain('Continue to Work');
    const { response } = await comer.visitor.submit(again, '/approve', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    const there = response.headers.get('location') ?? '';
    expect(new URL(there).searchParams.get('prompt')).toBe('login');
    const back = await comeBack(await person(lin).walker.walk(there, lin), comer);
    expect(new URL(back.response.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
  });
});

describe('a login here that came through an upstream', () => {
  it('whose person does not fit the rules any more gives nothing at the next consent, and ends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = { folder, port: await freePort() };
    const work = await startOpenIdUpstream();
    onTestFinished(() => work.stop());
    const open = async (allow: object): Promise<Scene> => {
      const settings = { label: 'Work', scopes: ['openid', 'email'], accounts: { create: true, allow } };
      const gatehouse = await startGatehouse({
        ...place,
        dangerously: { upstreamsOverHttp: true },
        upstreams: { work: work.settings(settings) },
      } as Partial<GatehouseOptions>);
      work.allow(`${gatehouse.url}/upstream/work/callback`);
      return { gatehouse, work };
    };
    const before = await open({ domains: ['example.org', lin.email.split('@')[1]] });
    const lina = person(lin);
    await logIn(await begin(before), lina);
    const consent = await lina.visitor.open((await begin(before)).url);
    expect(consent.html).toContain('/consent"');
    await before.gatehouse.stop();

    const after = await open({ domains: ['example.org'] });
    onTestFinished(() => after.gatehouse.stop());
    const refused = await lina.visitor.submit(consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(refused.html).toContain('this login is not allowed here');
    expect(await audited(after, 'upstream.refused')).toMatchObject([
      { upstream: 'work', reason: 'domain_not_allowed', purpose: 'authorization' },
    ]);
    expect(await audited(after, 'consent.granted')).toHaveLength(1);
    const { response } = await lina.visitor.submit(refused, '/leave', []);
    const sent = new URL(response.headers.get('location') ?? '');
    expect(sent.searchParams.get('error')).toBe('access_denied');
    expect((await lina.visitor.open((await begin(after)).url)).html).not.toContain('/consent"');
  });
});

describe('the account of somebody who comes in', () => {
  it('is never somebody else’s with the same address (T-089)', async () => {
    const scene = await startScene();
    await scene.gatehouse.administration.accounts.add(lin.email, 'a password of her own here');
    await expectTurnedAway(scene, lin, 'email_taken');
  });

  it('is that of the address where the operator chose so for its domain, and then by subject alone (T-089)', async () => {
    const accounts = { create: true, linkByVerifiedEmail: ['work.example'] };
    const scene = await startScene({ accounts });
    const { administration, storage } = scene.gatehouse;
    await administration.accounts.add(lin.email, 'a password of her own here');
    const before = await storage.accounts.findByEmail(lin.email);
    await logIn(await begin(scene), person(lin));
    expect(await audited(scene, 'account.linked')).toMatchObject([
      { accountId: before?.id, subject: lin.sub },
    ]);
    expect(await storage.artifacts.listGrants(before?.id ?? '')).toHaveLength(1);
  });

  it('is a new one where an address was not verified, whatever it says (T-089)', async () => {
    const accounts = { create: true, linkByVerifiedEmail: ['example.com', 'work.example'] };
    const scene = await startScene({ accounts });
    const { storage } = scene.gatehouse;
    await logIn(await begin(scene), person(mallory));
    const adas = await storage.accounts.findByEmail(ada.email);
    expect(await storage.artifacts.listGrants(adas?.id ?? '')).toEqual([]);
    expect(await audited(scene, 'account.created')).toHaveLength(1);
  });

  it('is not one that another upstream made with the address, which the operator does not trust for it (T-089)', async () => {
    const hub = await startOpenIdUpstream();
    onTestFinished(() => hub.stop());
    hub.alterIdTokens((claims, key) =>
      key.sign({ ...claims, email: lin.email, email_verified: true } as never),
    );
    const accounts = { create: true, linkByVerifiedEmail: ['work.example'] };
    const scene = await startScene({ accounts }, {
      upstreams: { hub: hub.settings({ label: 'Hub', accounts: { create: true } }) },
    } as object);
    hub.allow(`${scene.gatehouse.url}/upstream/hub/callback`);
    const attacker = person(mallory);
    const page = await choose(await attacker.visitor.open((await begin(scene)).url), attacker, 'hub');
    await comeBack(await attacker.walker.walk(await approve(page, attacker), mallory), attacker);
    expect(await audited(scene, 'account.created')).toMatchObject([{ upstream: 'hub' }]);
    const lina = person();
    const refused = await comeBack(await goThere(await begin(scene), lina), lina);
    expect(refused.html).toContain('this login is not allowed here');
    expect(await audited(scene, 'upstream.refused')).toMatchObject([
      { upstream: 'work', reason: 'email_taken' },
    ]);
  });

  it('cannot be used while it is disabled', async () => {
    const scene = await startScene();
    await logIn(await begin(scene), person());
    const { storage } = scene.gatehouse;
    const account = await storage.accounts.findByEmail(lin.email);
    await storage.accounts.setDisabled(account?.id ?? '', Math.floor(Date.now() / 1000));
    const page = await comeBack(await goThere(await begin(scene), person()), person());
    expect(page.response.status).toBe(400);
    const comer = person();
    const refused = await comeBack(await goThere(await begin(scene), comer), comer);
    expect(refused.html).toContain('is not allowed here');
    expect((await audited(scene, 'upstream.refused')).at(-1)).toMatchObject({ reason: 'account_disabled' });
  });

  it('is made once where ten browsers come with it for the first time at once, and all are let in', async () => {
    const scene = await startScene();
    const ten = Array.from({ length: 10 }, () => person());
    const callbacks = await Promise.all(ten.map(async (who) => goThere(await begin(scene), who)));
    // All are let go on at the same moment.
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    scene.work.alter('/me', async (body) => {
      waiting += 1;
      if (waiting === ten.length) all.resolve();
      await all.promise;
      return body;
    });
    const seen = await Promise.all(ten.map((who, index) => comeBack(callbacks[index] as URL, who)));
    for (const { response } of seen)
      expect(new URL(response.headers.get('location') ?? '').searchParams.get('code')).toBeTruthy();
    const accounts = await scene.gatehouse.storage.accounts.list();
    expect(accounts.filter(({ email }) => email === lin.email)).toHaveLength(1);
  });
});

describe('scopes by role', () => {
  const grantScopes = [
    { claim: 'groups', value: 'staff', scopes: ['notes:read'] },
    { claim: 'groups', value: 'owners', scopes: ['notes:write'] },
  ];

  it('are what was approved, as far as the roles go, at each consent', async () => {
    const scene = await startScene({ grantScopes });
    const lina = person();
    for (const flow of [await begin(scene), await begin(scene)]) {
      const page = await lina.visitor.open(flow.url);
      const sent = page.html.includes('/consent"')
        ? await lina.visitor
            .submit(page, '/consent', [
              ['decision', 'allow'],
              ['scope', 'notes:read'],
              ['scope', 'notes:write'],
            ])
            .then(({ response }) => new URL(response.headers.get('location') ?? ''))
        : await logIn(flow, lina);
      const response = await redeem(scene.gatehouse.url, flow, sent.searchParams.get('code') ?? '');
      expect(((await response.json()) as Tokens).scope).toBe('notes:read');
    }
  });

  it('are not opened by an address that was never verified (T-089)', async () => {
    const scene = await startScene({
      grantScopes: [{ claim: 'email', value: 'ada@example.com', scopes: ['notes:write'] }],
    });
    await expectTurnedAway(scene, mallory, 'no_scope_for_roles');
  });

  it('of which none is left turn somebody away', async () => {
    await expectTurnedAway(await startScene({ grantScopes }), omar, 'no_scope_for_roles');
  });

  it('of which none is left turn somebody away who is logged in already, in the same words, and the app is told so', async () => {
    const scene = await startScene({ grantScopes });
    const lina = person();
    await logIn(await begin(scene), lina);
    const flow = await begin(scene, { scope: 'notes:write offline_access' });
    const refused = await lina.visitor.open(flow.url);
    expect(refused.html).not.toContain('/consent"');
    expect(refused.html).toContain('this login is not allowed here');
    expect(await audited(scene, 'upstream.refused')).toMatchObject([
      { upstream: 'work', reason: 'no_scope_for_roles', purpose: 'authorization', clientId: flow.clientId },
    ]);
    expect(await audited(scene, 'consent.denied')).toEqual([]);
    const account = await lina.visitor.open(`${scene.gatehouse.url}/account`);
    expect(account.html, 'the login goes on (T-122)').toContain(lin.email);
    const { response } = await lina.visitor.submit(refused, '/leave', []);
    const sent = new URL(response.headers.get('location') ?? '');
    expect(Object.fromEntries(sent.searchParams)).toMatchObject({
      error: 'access_denied',
      error_description: 'the login of the person may not be used for this',
    });
  });

  it('of which none is left let somebody try with another account, which ends the login only then', async () => {
    const scene = await startScene({ grantScopes });
    const lina = person();
    await logIn(await begin(scene), lina);
    const refused = await lina.visitor.open((await begin(scene, { scope: 'notes:write' })).url);
    const again = await lina.visitor.submit(refused, '/again', []);
    expect(again.html).toContain('/approve"');
    const account = await lina.visitor.open(`${scene.gatehouse.url}/account`);
    expect(account.html).not.toContain(lin.email);
  });

  it('of which none is left of what was ticked turn somebody away, also where the page had others', async () => {
    const scene = await startScene({ grantScopes });
    const lina = person();
    await logIn(await begin(scene), lina);
    const consent = await lina.visitor.open((await begin(scene)).url);
    expect(consent.html).not.toContain('value="notes:write"');
    const refused = await lina.visitor.submit(consent, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:write'],
    ]);
    expect(refused.html).toContain('this login is not allowed here');
    expect((await audited(scene, 'upstream.refused')).at(-1)).toMatchObject({ reason: 'no_scope_for_roles' });
  });

  it('are those of the roles that somebody has by now, where the upstream is asked anew after the page', async () => {
    const scene = await startScene({ grantScopes });
    const lina = person();
    await logIn(await begin(scene), lina);
    await letGo(scene);
    const flow = await begin(scene, { scope: 'notes:write' });
    const consent = await lina.visitor.open(flow.url);
    expect(consent.html).toContain('value="notes:write"');
    expect(consent.html).toContain('you continue to Work next');
    const callback = await lina.walker.walk(await approve(consent, lina, ['notes:write'], '/consent'), lin);
    scene.work.alterIdTokens((claims, key) => key.sign({ ...claims, groups: ['owners'] } as never));
    scene.work.alter('/me', async (body) => ({ ...(body as object), groups: ['owners'] }));
    const sent = new URL((await comeBack(callback, lina)).response.headers.get('location') ?? '');
    const response = await redeem(scene.gatehouse.url, flow, sent.searchParams.get('code') ?? '');
    expect(((await response.json()) as Tokens).scope).toBe('notes:write');
  });
});
