// Over http, where servers at other ports of the host get our cookies and can set them:
// src/authorization-server/engine/flow-logins.ts
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, openConsent, register } from '../../support/oauth.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import { startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin } from '../../support/upstreams/people.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { openAccount } from '../account/support/account.ts';

const untrusted = { dangerously: { trustOtherPorts: false } } as Partial<GatehouseOptions>;

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse(untrusted);
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

async function silently(visitor: Visitor): Promise<string | null> {
  const { headers } = await visitor.request(authorization(gatehouse, client, { prompt: 'none' }).url);
  return new URL(headers.get('location') ?? '').searchParams.get('error');
}

describe('a login over http', () => {
  it('for an app counts for that request alone, while it lasts and after its answer (T-208)', async () => {
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, client), visitor);
    expect(await silently(visitor.copy())).toBe('login_required');
    const allowed = await visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ]);
    expect(allowed.response.headers.get('location')).toContain('code=');
    expect([...visitor.cookies.keys()].filter((name) => name.startsWith('gatehouse-session'))).toEqual([]);
    expect(await silently(visitor)).toBe('login_required');
  });

  it('for an app is in no list of browsers once it was answered (T-208)', async () => {
    await approve(authorization(gatehouse, client));
    const { html } = await openAccount(gatehouse);
    expect(html.match(/This browser/g)).toHaveLength(1);
    expect(html).not.toContain('Another browser');
  });

  it('of the account pages counts under their own address alone, and a new login has another (T-208)', async () => {
    const { visitor, url, html } = await openAccount(gatehouse);
    expect(url).toMatch(/\/account\/~[\w-]{43}$/);
    expect(html).toContain('Your account</h1>');
    for (const other of ['/account', '/account/~', `/account/~${'A'.repeat(43)}`, '/account/passkeys'])
      expect((await visitor.copy().open(gatehouse.url + other)).url).toContain('/account/login');
    expect((await createVisitor().open(url)).url).toContain('/account/login');
    const again = await openAccount(gatehouse, { visitor });
    expect(again.url).not.toBe(url);
    expect((await visitor.open(url)).url).toContain('/account/login');
  });

  it('is forgotten by its browser on the page that logs out, and ended by no copy of its cookie (T-208)', async () => {
    const { visitor, url } = await openAccount(gatehouse);
    const thief = visitor.copy();
    const page = await thief.open(`${gatehouse.url}/session/end`);
    expect(page.html).not.toContain('ada@example.com');
    await thief.submit(page, '/session/end/confirm', [['logout', 'yes']]);
    expect((await visitor.open(url)).html).toContain('Your account</h1>');
    const own = await visitor.open(`${gatehouse.url}/session/end`);
    await visitor.submit(own, '/session/end/confirm', [['logout', 'yes']]);
    expect((await visitor.open(url)).url).toContain('/account/login');
  });

  it('through an upstream that an app has begun and approved itself is asked for consent here (T-208)', async () => {
    const work = await startOpenIdUpstream();
    const own = await startGatehouse({
      dangerously: { upstreamsOverHttp: true, trustOtherPorts: false },
      upstreams: {
        work: work.settings({ label: 'Work', scopes: ['openid', 'email'], accounts: { create: true } }),
      },
    } as Partial<GatehouseOptions>);
    onTestFinished(async () => void (await Promise.all([own.stop(), work.stop()])));
    work.allow(`${own.url}/upstream/work/callback`);
    const app = createVisitor();
    const login = await app.open(authorization(own, (await register(own.url)).client_id).url);
    const approval = await app.submit(login, '/upstream', [['upstream', 'work']]);
    const there = await app.submit(approval, '/approve', [
      ['decision', 'allow'],
      ['scope', 'notes:write'],
    ]);
    // The app plants its cookies in the browser of a person, and sends that to the upstream.
    const person = app.copy();
    const back = await createWalker().walk(there.response.headers.get('location') ?? '', lin);
    const page = await person.open(back.href);
    expect(page.html).toContain('name="decision"');
    expect((await app.open(approval.url)).response.status).toBe(400);
  });
});
