import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { beforeEach, describe, expect, it } from 'vitest';
import type { OwnSessions } from '../../../src/authorization-server/account/own-session.ts';
import { commitWrites } from '../../../src/authorization-server/engine/write-set.ts';
import { createAccountSteps } from '../../../src/authorization-server/upstream-login/account-steps.ts';
import { upstreamSessionOfAcr } from '../../../src/authorization-server/upstream-login/login-acr.ts';
import type { Arrival } from '../../../src/authorization-server/upstream-login/purposes.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Upstream } from '../../../src/upstream/upstream.ts';
import { createVault } from '../../../src/upstream/vault.ts';
import { account, openForTest, startOfTime } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

const now = () => startOfTime;
const vault = createVault(createSealedBox([{ id: 'k', key: randomBytes(32).toString('base64url') }]), now);
const upstream = (allow?: object) =>
  ({
    name: 'work',
    label: 'Work',
    settings: { accounts: { create: true, linkByVerifiedEmail: [], ...(allow ? { allow } : undefined) } },
  }) as unknown as Upstream;
const arrival = (over: Partial<Arrival> = {}): Arrival => ({
  upstream: upstream(),
  identity: { issuer: 'https://work.example', subject: '1001', email: 'lin@work.example', claims: {} },
  tokens: { accessToken: 't', scopes: [] },
  ...over,
});

let storage: Storage;
let loggedIn: { accountId: string; uid: string } | undefined;
let started: { accountId: string; acr: string | undefined; provedAt: number | undefined } | undefined;
let events: string[];
beforeEach(async () => {
  storage = await openForTest(openNewDatabase);
  await storage.accounts.add(account('ada'));
  await storage.accounts.add(account('grace'));
  loggedIn = { accountId: 'ada', uid: 'u1' };
  started = undefined;
  events = [];
});

/** A browser as the pages know it; which account is logged in there is for the test to say. */
const pagesUrl = 'https://notes.example/account';
const findWho = async () => {
  const who = loggedIn && (await storage.accounts.find(loggedIn.accountId));
  return who && loggedIn
    ? ({ account: who, session: { uid: loggedIn.uid }, url: pagesUrl } as never)
    : undefined;
};
const sessions: OwnSessions = {
  find: findWho,
  findBesidePages: findWho,
  start: async (_ctx, { accountId, acr, provedAt }) => {
    started = { accountId, acr, provedAt };
    return pagesUrl;
  },
  end: async () => undefined,
  forget: () => undefined,
};

const newCtx = () => {
  const headers: Record<string, string> = {};
  return {
    state: { requestId: 'req-1' },
    query: {},
    headers,
    get: () => '',
    set(name: string | Record<string, string>, value = '') {
      Object.assign(headers, typeof name === 'string' ? { [name]: value } : name);
    },
    redirect(url: string) {
      headers.Location = url;
    },
  } as unknown as Context & { headers: Record<string, string>; body: unknown };
};

const steps = (identities: Parameters<typeof createAccountSteps>[0]['identities'] = storage.identities) =>
  createAccountSteps({
    accounts: storage.accounts,
    identities,
    links: storage.upstreams,
    isBelieved: () => true,
    vault,
    sessions,
    audit: (event) => void events.push(event),
    accountUrl: 'https://notes.example/account',
    now,
  });

/** Runs a step as the callback does: in one commit. */
async function run(act: (ctx: ReturnType<typeof newCtx>) => Promise<void>) {
  const ctx = newCtx();
  const { result } = await commitWrites(storage.artifacts, async () => {
    await act(ctx);
    return true;
  });
  return { ctx, result };
}

const purpose = { purpose: 'link', accountId: 'ada', sessionUid: 'u1', next: 'upstreams' } as const;
const linkAs = (come: Arrival) => run((ctx) => steps().link.finish(ctx, purpose, come));

describe('linking', () => {
  it('is for the login session that began it alone (T-089)', async () => {
    const isOpen = () => steps().link.isOpen(newCtx(), purpose);
    expect(await isOpen()).toBe(true);
    for (const other of [undefined, { accountId: 'grace', uid: 'u1' }, { accountId: 'ada', uid: 'u2' }]) {
      loggedIn = other;
      expect(await isOpen()).toBe(false);
      await expect(linkAs(arrival())).rejects.toMatchObject({ name: 'SessionNotFound' });
    }
    expect(await storage.upstreams.listOfAccount('ada')).toEqual([]);
  });

  it('gives the account one more identity, and keeps its tokens without a grant', async () => {
    const { ctx, result } = await linkAs(arrival());
    expect(result).toEqual({ committed: true });
    expect(ctx.headers.Location).toBe('https://notes.example/account/upstreams');
    expect(events).toEqual(['account.linked']);
    expect(await storage.upstreams.findOfAccount('ada', 'work')).toMatchObject({
      kept: true,
      subject: '1001',
    });
    // Once more is no change of who it is.
    await linkAs(arrival());
    // Another request has linked it between the reads of this one.
    const identities = { ...storage.identities, findAccount: async () => undefined };
    await run((ctx) => steps(identities).link.finish(ctx, purpose, arrival()));
    expect(events).toEqual(['account.linked']);
  });

  it('never takes an identity from another account, nor gives an account two at one issuer (T-089)', async () => {
    const { identity } = arrival();
    const other = { ...identity, subject: '1002' };
    await storage.artifacts.commit([
      { type: 'linkIdentity', ...identity, accountId: 'grace', at: startOfTime },
    ]);
    await expect(linkAs(arrival())).rejects.toMatchObject({ reason: 'linked_to_another' });
    await linkAs(arrival({ identity: other }));
    await expect(linkAs(arrival({ identity: { ...identity, subject: '1003' } }))).rejects.toMatchObject({
      reason: 'linked_to_another',
    });
  });

  it('follows the rules of admission', async () => {
    const come = arrival({ upstream: upstream({ domains: ['else.example'] }) });
    await expect(linkAs(come)).rejects.toMatchObject({ reason: 'domain_not_allowed' });
  });
});

describe('a login on the account pages', () => {
  const login = { purpose: 'account-login', next: '', isFresh: false } as const;
  const logIn = (come: Arrival) => run((ctx) => steps()['account-login'].finish(ctx, login, come));

  it('starts a session that hangs on the login there', async () => {
    const { ctx } = await logIn(arrival());
    expect(ctx.headers.Location).toBe('https://notes.example/account');
    expect(events).toEqual(['account.created', 'login.succeeded']);
    const sessionId = upstreamSessionOfAcr(started?.acr) ?? '';
    expect((await storage.upstreams.linkOfSession(sessionId))?.accountId).toBe(started?.accountId);
    await logIn(arrival());
    expect(events.slice(2)).toEqual(['login.succeeded']);
    expect(await steps()['account-login'].isOpen(newCtx(), login)).toBe(true);
  });

  it('proves who somebody is only where the upstream was asked to ask them anew (T-209)', async () => {
    await logIn(arrival());
    expect(started?.provedAt).toBeUndefined();
    await run((ctx) => steps()['account-login'].finish(ctx, { ...login, isFresh: true }, arrival()));
    expect(started?.provedAt).toBeGreaterThan(0);
  });

  it('is refused who may not come in', async () => {
    const come = arrival({ upstream: upstream({ claims: { groups: ['staff'] } }) });
    await expect(logIn(come)).rejects.toMatchObject({ reason: 'claims_not_allowed' });
  });

  it('that came to nothing says so, and leads back; a no there leads back at once (T-084)', async () => {
    const { fail } = steps()['account-login'];
    for (const [failure, status, way] of [
      ['unavailable', 503, 'passkeys'],
      ['refused', 403, 'passkeys'],
      ['notAdmitted', 403, 'login?next=passkeys&amp;other=1'],
    ] as const) {
      const { ctx } = await run((at) => fail(at, { ...login, next: 'passkeys' }, upstream(), failure));
      expect(ctx.status).toBe(status);
      expect(ctx.body).toContain(`href="https://notes.example/account/${way}"`);
    }
    const { ctx } = await run((at) => fail(at, login, upstream(), 'denied'));
    expect(ctx.headers.Location).toBe('https://notes.example/account/login?denied=work');
    const linked = await run((at) => steps().link.fail(at, purpose, upstream(), 'refused'));
    expect(linked.ctx.body).toContain('href="https://notes.example/account/upstreams"');
  });
});
