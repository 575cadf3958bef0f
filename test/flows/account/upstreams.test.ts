// Accounts elsewhere on /account, with a real upstream:
// src/authorization-server/account/upstreams-page.ts
// src/authorization-server/account/linked-upstreams.ts
// src/authorization-server/account/upstreams-page.ts
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { ada, startGatehouse } from '../../support/gatehouse.ts';
import { startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar } from '../../support/upstreams/people.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { openAccount, submitWithId } from './support/account.ts';
import { type Elsewhere, goThrough, startElsewhere } from './support/elsewhere.ts';

/** Logs in to /account through the upstream, in a browser of its own. */
async function comeThroughWork({ gatehouse }: Elsewhere, person = lin) {
  const visitor = createVisitor();
  const login = await visitor.open(`${gatehouse.url}/account/login`);
  return { visitor, ...(await goThrough(visitor, login, '/account/upstream', person)) };
}

/** Shows the upstream once more who one is, as changes of the ways to log in ask for. */
async function showOnceMore({ gatehouse }: Pick<Elsewhere, 'gatehouse'>, visitor: Visitor, person = lin) {
  const login = await visitor.open(`${gatehouse.url}/account/passkeys`);
  expect(login.url).toBe(`${gatehouse.url}/account/login?next=passkeys`);
  const there = await goThrough(visitor, login, '/account/upstream?next=passkeys', person);
  expect(there.url).toBe(`${gatehouse.url}/account/passkeys`);
}

/** Logs ada in with her password and links who she is at the upstream. */
async function linkWork({ gatehouse }: Elsewhere, person = lin) {
  const { visitor, ...page } = await openAccount(gatehouse, { page: '/upstreams/work/link' });
  return { visitor, ...(await goThrough(visitor, page, '/link', person)) };
}

const audited = async ({ gatehouse }: Elsewhere, event: string) =>
  gatehouse.administration.audit.list({ event, limit: 10 });

describe('a login to the account pages through an upstream', () => {
  it('makes the account it is known by, and shows who one is there, with tokens kept', async () => {
    const scene = await startElsewhere();
    const { url, html, visitor } = await comeThroughWork(scene);
    expect(url).toBe(`${scene.gatehouse.url}/account`);
    expect(html).toContain(lin.email);
    expect(html).toContain('Accounts elsewhere (1)');
    const page = await visitor.open(`${scene.gatehouse.url}/account/upstreams`);
    expect(page.html).toContain(`Your account there: <bdi class="name">${lin.email}</bdi>`);
    expect(page.html).toContain('You can log in with it.');
    expect(await audited(scene, 'login.succeeded')).toMatchObject([{ details: { upstream: 'work' } }]);
  });

  it('that may not come in can be made with another account there, which is asked for', async () => {
    const scene = await startElsewhere({ accounts: { create: true, allow: { domains: ['work.example'] } } });
    const { visitor, html } = await comeThroughWork(scene, omar);
    const back = /href="([^"]+login\?other=1)"/.exec(html)?.[1] ?? '';
    const login = await visitor.open(back);
    const { response } = await visitor.submit(login, '/account/upstream?other=1', [['upstream', 'work']]);
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('prompt')).toContain('login');
  });

  it('that its person did not allow there leads back to the login page, which says so until the next try', async () => {
    const scene = await startElsewhere();
    const visitor = createVisitor();
    const login = await visitor.open(`${scene.gatehouse.url}/account/login?next=passkeys`);
    const denied = await goThrough(visitor, login, '/account/upstream?next=passkeys', lin, 'deny');
    expect(denied.url).toBe(`${scene.gatehouse.url}/account/login?next=passkeys&denied=work`);
    expect(denied.html).toMatch(/role="alert"><p>Work says that you did not allow it. Nobody was logged in./);
    expect(denied.html).not.toContain('denied=');
    const { html } = await visitor.open(`${scene.gatehouse.url}/account/login?denied=<b>nobody</b>`);
    expect(html).not.toMatch(/role="alert"|nobody/);
  });

  it('that asked nobody anew is no proof for changes of the ways to log in; one that was asked for it is (T-209)', async () => {
    const scene = await startElsewhere();
    const { visitor } = await comeThroughWork(scene);
    await showOnceMore(scene, visitor);
    const link = await visitor.open(`${scene.gatehouse.url}/account/upstreams/work/unlink`);
    expect(link.url).not.toContain('/login');
  });

  it('has no password to change, and is told where one comes from', async () => {
    const scene = await startElsewhere();
    const { visitor } = await comeThroughWork(scene);
    const page = await visitor.open(`${scene.gatehouse.url}/account/password`);
    expect(page.html).toContain('Your account has no password');
    expect(page.html).not.toContain('name="current"');
  });

  it('is called by its upstream in the list of browsers; one by password is not', async () => {
    const scene = await startElsewhere({ accounts: { create: false } });
    await linkWork(scene);
    const { visitor } = await comeThroughWork(scene);
    const page = await visitor.open(`${scene.gatehouse.url}/account`);
    const [, browsers = ''] = page.html.split('Browsers you are logged in with');
    const items = browsers.split('<li class="item">').slice(1, 3);
    expect(items.map((item) => item.includes('With Work'))).toEqual([true, false]);
  });

  it('leads to the page that asked for it, and asks the upstream for a new login where somebody is there', async () => {
    const scene = await startElsewhere();
    const { visitor } = await comeThroughWork(scene);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(Date.now() + 301_000);
      const login = await visitor.open(`${scene.gatehouse.url}/account/upstreams/work/unlink`);
      expect(login.url).toContain('/account/login?next=upstreams/work/unlink');
      const { response } = await visitor.submit(login, '/account/upstream?next=upstreams/work/unlink', [
        ['upstream', 'work'],
      ]);
      const there = new URL(response.headers.get('location') ?? '');
      expect(there.searchParams.get('prompt')?.split(' ')).toContain('login');
      expect(there.searchParams.get('max_age')).toBe('0');
    } finally {
      vi.useRealTimers();
    }
  });

  it('to an upstream that is only for linking, or none, is not offered, and a forged form leads nowhere', async () => {
    const scene = await startElsewhere({ login: false });
    const visitor = createVisitor();
    const login = await visitor.open(`${scene.gatehouse.url}/account/login`);
    expect(login.html).not.toContain('name="upstream"');
    const csrf = /name="csrf" value="([^"]*)"/.exec(login.html)?.[1] ?? '';
    for (const upstream of ['work', 'nothing', ''])
      expect(
        (
          await visitor.open(`${scene.gatehouse.url}/account/upstream`, {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: new URLSearchParams({ csrf, upstream }).toString(),
          })
        ).response.headers.get('location'),
      ).toBeNull();
  });

  it('says so where the upstream is down, and the password still works', async () => {
    const scene = await startElsewhere();
    await scene.work.down();
    const visitor = createVisitor();
    const login = await visitor.open(`${scene.gatehouse.url}/account/login`);
    const page = await visitor.submit(login, '/account/upstream', [['upstream', 'work']]);
    expect(page.response.status).toBe(503);
    expect(page.html).toContain('Work cannot be reached at the moment.');
    const { html } = await visitor.submit(page, '/account/login', [
      ['email', ada.email],
      ['password', ada.password],
    ]);
    expect(html).toContain('Your account');
  });
});

describe('an account elsewhere', () => {
  it('is linked by somebody who is logged in here and logs in there; then it lets them in (T-089)', async () => {
    const scene = await startElsewhere({ accounts: { create: false } });
    const linked = await linkWork(scene);
    expect(linked.url).toBe(`${scene.gatehouse.url}/account/upstreams?linked=work`);
    expect(linked.html).toContain('Your account at Work is linked.');
    expect(linked.html).toContain(lin.email);
    expect(linked.html).toContain('This server stores its tokens');
    expect(linked.html).toContain('offline_access');
    const later = await comeThroughWork(scene);
    expect(later.html).toContain(ada.email);
    const account = await scene.gatehouse.storage.accounts.findByEmail(ada.email);
    expect(await audited(scene, 'account.linked')).toMatchObject([
      { details: { accountId: account?.id, upstream: 'work', subject: lin.sub } },
    ]);
  });

  it('is not linked where the last login is more than five minutes ago, by GET or POST (T-089)', async () => {
    const scene = await startElsewhere();
    const { visitor, ...page } = await openAccount(scene.gatehouse, { page: '/upstreams/work/link' });
    expect(page.url).toBe(`${scene.gatehouse.url}/account/upstreams/work/link`);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(Date.now() + 301_000);
      const late = await visitor.submit(page, '/link', []);
      expect(late.url).toBe(`${scene.gatehouse.url}/account/login?next=upstreams/work/link`);
    } finally {
      vi.useRealTimers();
    }
    expect(await audited(scene, 'upstream.begun')).toEqual([]);
  });

  it('that is somebody else already is not linked, and nothing changes (T-089)', async () => {
    const scene = await startElsewhere();
    await comeThroughWork(scene);
    const refused = await linkWork(scene);
    expect(refused.response.status).toBe(403);
    expect(refused.html).toContain(`href="${scene.gatehouse.url}/account/upstreams"`);
    const account = await scene.gatehouse.storage.accounts.findByEmail(ada.email);
    expect(await scene.gatehouse.storage.identities.listOf(account?.id ?? '')).toEqual([]);
    expect(await scene.gatehouse.storage.upstreams.listOfAccount(account?.id ?? '')).toEqual([]);
  });

  it('that its person did not allow there is not said to be linked', async () => {
    const scene = await startElsewhere();
    const { visitor, ...page } = await openAccount(scene.gatehouse, { page: '/upstreams/work/link' });
    const denied = await goThrough(visitor, page, '/link', lin, 'deny');
    expect(denied.url).toBe(`${scene.gatehouse.url}/account/upstreams?denied=work`);
    expect(denied.html).toContain('Work says that you did not allow it. Nothing was changed here.');
    expect(denied.html).not.toContain('Your account at Work is linked');
  });

  it('whose page is called up for an upstream that is not there is missing, as is one that is not linked', async () => {
    const scene = await startElsewhere();
    const { visitor } = await openAccount(scene.gatehouse);
    for (const path of ['nothing/link', 'nothing/unlink', 'work/unlink', ':name/link', 'work/other'])
      expect(
        (await visitor.open(`${scene.gatehouse.url}/account/upstreams/${path}`)).response.status,
        path,
      ).toBe(404);
  });
});

describe('unlinking', () => {
  it('asks first, then ends the login there with its tokens and forgets who one is there', async () => {
    const scene = await startElsewhere();
    const { visitor } = await linkWork(scene);
    const page = await visitor.open(`${scene.gatehouse.url}/account/upstreams/work/unlink`);
    expect(page.html).toContain('Unlink Work?');
    const account = await scene.gatehouse.storage.accounts.findByEmail(ada.email);
    const { storage } = scene.gatehouse;
    expect(await storage.upstreams.listOfAccount(account?.id ?? '')).toHaveLength(1);
    const after = await visitor.submit(page, '/unlink', []);
    expect(after.url).toBe(`${scene.gatehouse.url}/account/upstreams?unlinked=work`);
    expect(after.html).toContain('Work is unlinked.');
    expect(await storage.upstreams.listOfAccount(account?.id ?? '')).toEqual([]);
    expect(await storage.identities.listOf(account?.id ?? '')).toEqual([]);
    await vi.waitFor(() => expect(scene.work.revoked).not.toEqual([]), { timeout: 1_000 });
    expect(await audited(scene, 'account.unlinked')).toMatchObject([
      { details: { accountId: account?.id, upstream: 'work' } },
    ]);
  });

  it('logs out the browsers that came through it, within a second, and no others', async () => {
    const scene = await startElsewhere();
    const { visitor } = await linkWork(scene);
    const through = await comeThroughWork(scene);
    const page = await visitor.open(`${scene.gatehouse.url}/account/upstreams/work/unlink`);
    await visitor.submit(page, '/unlink', []);
    expect((await through.visitor.open(`${scene.gatehouse.url}/account`)).url).toContain('/account/login');
    expect((await visitor.open(`${scene.gatehouse.url}/account`)).url).toBe(`${scene.gatehouse.url}/account`);
  });

  it('of the only way to log in is refused, and says what to do; with another way it goes', async () => {
    const scene = await startElsewhere();
    const { visitor } = await comeThroughWork(scene);
    await showOnceMore(scene, visitor);
    const path = `${scene.gatehouse.url}/account/upstreams/work/unlink`;
    const page = await visitor.open(path);
    expect(page.html).toContain('Work is your only way to log in.');
    expect(page.html).not.toContain('<form');
    const other = await visitor.open(`${scene.gatehouse.url}/account`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(other.html)?.[1] ?? '';
    const forced = await visitor.open(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ csrf }).toString(),
    });
    expect(forced.response.status).toBe(409);
    const account = await scene.gatehouse.storage.accounts.findByEmail(lin.email);
    expect(await scene.gatehouse.storage.upstreams.listOfAccount(account?.id ?? '')).toHaveLength(1);
    const passkey = { id: 'key', accountId: account?.id ?? '', name: 'n', publicKey: Buffer.from('key') };
    await scene.gatehouse.storage.passkeys.add(
      { ...passkey, counter: 0, isSynced: false, transports: [], createdAt: 1 },
      5,
    );
    expect((await visitor.open(path)).html).toContain('<form');
  });

  it('leaves a passkey that is the only way to log in, whose removal is refused and says what to do', async () => {
    const scene = await startElsewhere();
    const { visitor } = await comeThroughWork(scene);
    await showOnceMore(scene, visitor);
    const { storage, url } = scene.gatehouse;
    const account = await storage.accounts.findByEmail(lin.email);
    const passkey = { accountId: account?.id ?? '', name: 'n', counter: 0, isSynced: false, transports: [] };
    for (const id of ['first', 'second'])
      await storage.passkeys.add({ ...passkey, id, publicKey: Buffer.from(id), createdAt: 1 }, 5);
    const remove = async (id: string) => {
      const page = await visitor.open(`${url}/account/passkeys`);
      return submitWithId(visitor, page, '/passkeys/remove', id);
    };
    expect((await remove('first')).response.status).toBe(200);
    await storage.identities.forget(scene.work.issuer, account?.id ?? '');
    const refused = await remove('second');
    expect(refused.response.status).toBe(409);
    expect(refused.html).toContain('This passkey is your only way to log in.');
    expect(await storage.passkeys.listOf(account?.id ?? '')).toHaveLength(1);
  });

  it('of two ways in at the same moment leaves one of them', async () => {
    const other = await startOpenIdUpstream();
    const second = other.settings({ label: 'Home', scopes: ['openid'], accounts: { create: true } });
    const work = await startOpenIdUpstream();
    const first = work.settings({ label: 'Work', scopes: ['openid', 'email'], accounts: { create: true } });
    const gatehouse = await startGatehouse({
      dangerously: { upstreamsOverHttp: true },
      upstreams: { work: first, home: second },
    } as Partial<GatehouseOptions>);
    onTestFinished(async () => void (await Promise.all([gatehouse.stop(), work.stop(), other.stop()])));
    work.allow(`${gatehouse.url}/upstream/work/callback`);
    other.allow(`${gatehouse.url}/upstream/home/callback`);
    const { visitor } = await comeThroughWork({ gatehouse, work });
    await showOnceMore({ gatehouse }, visitor);
    const home = await visitor.open(`${gatehouse.url}/account/upstreams/home/link`);
    expect((await goThrough(visitor, home, '/link', omar)).html).toContain('Your account at Home is linked.');
    const pages = [];
    for (const name of ['work', 'home'])
      pages.push(await visitor.open(`${gatehouse.url}/account/upstreams/${name}/unlink`));
    // Both have been let go on by every check before the first is carried out.
    const { upstreams } = gatehouse.storage;
    const unlink = upstreams.unlink.bind(upstreams);
    const both = Promise.withResolvers<void>();
    const asked = vi.spyOn(upstreams, 'unlink').mockImplementation(async (...which) => {
      if (asked.mock.calls.length === pages.length) both.resolve();
      await both.promise;
      return unlink(...which);
    });
    const answers = await Promise.all(
      pages.map(({ html, url }) =>
        visitor.open(url, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
          body: new URLSearchParams({ csrf: /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '' }).toString(),
        }),
      ),
    );
    expect(answers.map(({ response }) => response.status)).toContain(409);
    const account = await gatehouse.storage.accounts.findByEmail(lin.email);
    expect(await gatehouse.storage.identities.listOf(account?.id ?? '')).toHaveLength(1);
  });

  it('works for an account elsewhere that is only known, when all that hung on it has ended', async () => {
    const scene = await startElsewhere();
    const { visitor } = await openAccount(scene.gatehouse);
    const account = await scene.gatehouse.storage.accounts.findByEmail(ada.email);
    const identity = { issuer: scene.work.issuer, subject: omar.sub, accountId: account?.id ?? '' };
    await scene.gatehouse.storage.artifacts.commit([
      { type: 'linkIdentity', ...identity, at: 1_800_000_000 },
    ]);
    const list = await visitor.open(`${scene.gatehouse.url}/account/upstreams`);
    expect(list.html).toContain(omar.sub);
    expect(list.html).toContain('stores no tokens of it');
    const page = await visitor.open(`${scene.gatehouse.url}/account/upstreams/work/unlink`);
    await visitor.submit(page, '/unlink', []);
    expect(await scene.gatehouse.storage.identities.listOf(identity.accountId)).toEqual([]);
  });

  it('of one that the operator took out of the settings still works', async () => {
    const scene = await startElsewhere();
    const { folder } = scene.gatehouse;
    expect(folder).toBeTruthy();
    await linkWork(scene);
    const account = await scene.gatehouse.storage.accounts.findByEmail(ada.email);
    const [row] = await scene.gatehouse.storage.upstreams.listOfAccount(account?.id ?? '');
    if (!row) throw new Error('nothing is linked');
    await scene.gatehouse.storage.artifacts.commit(
      [
        {
          ...row,
          type: 'putUpstreamLink',
          id: 'gone',
          upstream: 'gone',
          at: 1,
          tokens: row.tokens ?? row.profile,
        },
      ].map(({ generation: _generation, ...change }) => change) as never,
    );
    const { visitor, html } = await openAccount(scene.gatehouse, { page: '/upstreams' });
    expect(html).toContain('does not work with this service any more');
    const page = await visitor.open(`${scene.gatehouse.url}/account/upstreams/gone/unlink`);
    await visitor.submit(page, '/unlink', []);
    expect(
      (await scene.gatehouse.storage.upstreams.listOfAccount(account?.id ?? '')).map(
        ({ upstream }) => upstream,
      ),
    ).toEqual(['work']);
  });
});
