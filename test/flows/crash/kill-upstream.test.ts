// What survives a `kill -9` of logins at an upstream (flows of src/authorization-server/upstream-login/upstream-callback.ts,
// src/upstream/bond/look.ts, src/upstream/bond/keeper.ts and src/storage/sqlite/stores/upstreams.ts).
// More kills: GATEHOUSE_KILLS=100 npx vitest run test/flows/crash/kill-upstream
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { ada } from '../../support/gatehouse.ts';
import {
  authorization,
  type Flow,
  post,
  redeem,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { createWalker, type Walker } from '../../support/upstreams/browse.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, mallory, omar, type UpstreamPerson } from '../../support/upstreams/people.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { openAccount } from '../account/support/account.ts';
import { expectRefused, expectTokens, generousLimits } from '../token/subject.ts';
import { readHeldUpstream } from './held-upstream.ts';
import { expectIntact, type Restartable, startRestartable } from './served.ts';

const kills = Number(process.env.GATEHOUSE_KILLS || 4);
const folder = testFolderForFile();
let work: OpenIdUpstream;
let served: Restartable;
beforeAll(async () => {
  work = await startOpenIdUpstream();
  // Whoever calls has the upstream's tokens renewed.
  work.state.accessTokenSeconds = 1;
  served = await startRestartable(folder, {
    limits: generousLimits,
    log: { level: 'silent' },
    dangerously: { upstreamsOverHttp: true, trustOtherPorts: true },
    upstreams: {
      work: work.settings({
        scopes: ['openid', 'profile', 'email', 'offline_access'],
        authorizationParameters: { prompt: 'consent' },
        accounts: { create: true },
      }),
    },
  });
  work.allow(`${served.at.url}/upstream/work/callback`);
});
afterAll(async () => {
  await served.stop();
  await work.stop();
});

/** Somebody’s way back from the upstream, not yet gone. */
interface Return {
  flow: Flow;
  callback: string;
  visitor: Visitor;
}

interface Login {
  clientId: string;
  tokens: Tokens;
}

const walkers = new Map<UpstreamPerson, Walker>();

async function walk(there: string | null, who: UpstreamPerson): Promise<string> {
  if (there === null) throw new Error('there is no way to the upstream');
  const walker = walkers.get(who) ?? createWalker();
  walkers.set(who, walker);
  return (await walker.walk(there, who)).href;
}

/** Goes to the upstream for a new client, in a new browser. */
async function goThere(who: UpstreamPerson): Promise<Return> {
  const { at } = served;
  const visitor = createVisitor();
  const flow = authorization(at, (await register(at.url)).client_id);
  const page = await visitor.submit(await visitor.open(flow.url), '/upstream', [['upstream', 'work']]);
  const { response } = await visitor.submit(page, '/approve', [
    ['decision', 'allow'],
    ['scope', 'notes:read'],
  ]);
  return { flow, visitor, callback: await walk(response.headers.get('location'), who) };
}

/** The code a callback led to; undefined where it led to a page. */
async function codeOf({ callback, visitor }: Return): Promise<string | undefined> {
  const { response } = await visitor.open(callback);
  return URL.parse(response.headers.get('location') ?? '')?.searchParams.get('code') ?? undefined;
}

async function logIn(who: UpstreamPerson): Promise<Login> {
  const way = await goThere(who);
  const code = (await codeOf(way)) ?? '';
  return {
    clientId: way.flow.clientId,
    tokens: await expectTokens(await redeem(served.at.url, way.flow, code)),
  };
}

/** Gets ready to unlink what ada has linked here. */
async function openUnlinking(): Promise<() => Promise<{ url: string }>> {
  const { visitor, ...page } = await openAccount(served.at, { page: '/upstreams/work/unlink' });
  return () => visitor.submit(page, '/unlink', []);
}

/** Links somebody’s account at the upstream to ada’s here, and gets ready to unlink it. */
async function link(who: UpstreamPerson): Promise<() => Promise<{ url: string }>> {
  const { visitor, ...page } = await openAccount(served.at, { page: '/upstreams/work/link' });
  const { response } = await visitor.submit(page, '/link', []);
  const linked = await visitor.open(await walk(response.headers.get('location'), who));
  expect(linked.url).toContain('linked=work');
  return openUnlinking();
}

/** How much had been shown to the upstream before a call of lin began that was answered well: what it gave for that is kept. */
let replaced = 0;

/** Calls as lin. */
async function callAsLin({ tokens }: Login): Promise<number> {
  const before = work.shown.length;
  const status = await tryAccess(served.at.mcpUrl, tokens.access_token);
  if (status === 200) replaced = Math.max(replaced, before);
  return status;
}

const works = async ({ tokens }: Login): Promise<boolean> => {
  const status = await tryAccess(served.at.mcpUrl, tokens.access_token);
  expect([200, 401]).toContain(status);
  return status === 200;
};

/** What came of a request: undefined where the connection broke before the answer. */
async function attempt<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch {
    return undefined;
  }
}

/** What a round does at once; each is asked for beforehand, up to the request that does it. */
interface Acts {
  call: () => Promise<number>;
  comeBack: () => Promise<string | undefined>;
  revoke: () => Promise<Response>;
  unlink: () => Promise<{ url: string }>;
}

/** What its clients know of a round. */
interface Round {
  /** Codes that two were given who came back with the same state at once. */
  codes: string[];
  isRevoked: boolean;
  isUnlinked: boolean;
  calls: number;
}

/** How many call at once. */
const callers = 8;

/** Does everything at once, and kills the server `pauseMs` after one, none or all of it was answered, in turns. */
async function killDuring(acts: Acts, turn: number, pauseMs: number): Promise<Round> {
  let calls = 0;
  const goOnCalling = async (): Promise<void> => {
    while ((await attempt(acts.call())) !== undefined) calls++;
  };
  const calling = [attempt(acts.call()), ...Array.from({ length: callers }, goOnCalling)];
  const returns = [attempt(acts.comeBack()), attempt(acts.comeBack())];
  const revocation = attempt(acts.revoke());
  const unlinking = attempt(acts.unlink());
  const all = Promise.all([...returns, revocation, unlinking]);
  await [Promise.all(returns), calling[0], revocation, unlinking, undefined, all][turn % 6];
  await sleep(pauseMs);
  await served.kill();
  await Promise.all(calling);
  return {
    codes: (await Promise.all(returns)).filter((code) => code !== undefined),
    isRevoked: (await revocation)?.status === 200,
    isUnlinked: (await unlinking)?.url.includes('unlinked=work') === true,
    calls,
  };
}

const timesIn = (list: readonly string[], entry: string): number =>
  list.filter((one) => one === entry).length;

/** What has ended here is revoked there, however often the server is killed meanwhile. */
const expectRevokedThere = (who: UpstreamPerson): Promise<void> =>
  vi.waitFor(() => expect(work.holdsRefreshToken(who.sub)).toBe(false), { timeout: 10_000, interval: 20 });

it(
  `a server killed at any moment of logins, renewals and endings at an upstream binds all or nothing, keeps what it said, shows the upstream nothing twice that it has replaced, and revokes there what has ended, ${kills} times (T-080, T-090, T-091, T-166)`,
  async () => {
    const seen = { calls: 0, logins: 0, late: 0, revoked: 0, unlinked: 0, lostRenewals: 0 };
    /** Refresh tokens that may be shown once more: a kill came between the upstream's answer and its keeping. */
    const excused: string[] = [];
    /** How much had been shown when the server that is running was started. */
    let earlier = 0;
    const expectNoneShownTwice = (): void => {
      const since = work.shown.slice(earlier);
      expect(since.filter((one) => timesIn(since, one) > 1)).toEqual([]);
      expect(work.shown.filter((one) => timesIn(work.shown, one) > 1 + timesIn(excused, one))).toEqual([]);
    };
    let using = await logIn(lin);
    let revoking = await logIn(omar);

    for (let kill = 0; kill < kills; kill++) {
      const unlink = await link(mallory);
      const returning = await goThere(lin);
      await sleep((kill * 370) % 1_000);
      const { url } = served.at;
      const round = await killDuring(
        {
          call: () => callAsLin(using),
          comeBack: () => codeOf({ ...returning, visitor: returning.visitor.copy() }),
          revoke: () =>
            post(`${url}/revoke`, { client_id: revoking.clientId, token: revoking.tokens.refresh_token }),
          unlink,
        },
        kill,
        (kill * 13) % 40,
      );

      expectIntact(folder);
      const held = await readHeldUpstream(folder, 'work', ada.email);
      expect(held.unbound).toEqual([]);
      expect(work.shown.slice(0, replaced)).not.toContain(held.refreshTokens.get(lin.sub));
      await served.restart();
      expectNoneShownTwice();
      earlier = work.shown.length;
      const unkept = [...held.refreshTokens.values()].filter((token) => work.shown.includes(token));
      excused.push(...unkept);

      // A login there ends with a kill only where the upstream has given a token that could not be kept any more.
      const isKept = !unkept.includes(held.refreshTokens.get(lin.sub) ?? '');
      const isAlive = (await callAsLin(using)) === 200;
      if (isKept) expect(isAlive).toBe(true);
      expect(round.codes.length).toBeLessThanOrEqual(1);
      const late = await codeOf(returning);
      if (round.codes.length > 0) expect(late).toBeUndefined();
      expect(await codeOf(returning)).toBeUndefined();
      const code = late ?? (isKept ? round.codes[0] : undefined);
      if (code !== undefined) {
        const tokens = await expectTokens(await redeem(served.at.url, returning.flow, code));
        using = { clientId: returning.flow.clientId, tokens };
        expect(await works(using)).toBe(true);
      } else if (!isAlive) using = await logIn(lin);

      const isRevoked = !(await works(revoking));
      if (round.isRevoked) {
        expect(isRevoked).toBe(true);
        await expectRefused(
          await refresh(served.at.url, revoking.clientId, revoking.tokens.refresh_token),
          'invalid_grant',
        );
      }
      if (isRevoked) {
        await expectRevokedThere(omar);
        revoking = await logIn(omar);
      }
      if (round.isUnlinked) expect(held.refreshTokens.has(mallory.sub)).toBe(false);
      if (held.refreshTokens.has(mallory.sub)) await (await openUnlinking())();
      await expectRevokedThere(mallory);

      seen.calls += round.calls;
      seen.logins += round.codes.length;
      seen.late += late === undefined ? 0 : 1;
      seen.revoked += round.isRevoked ? 1 : 0;
      seen.unlinked += round.isUnlinked ? 1 : 0;
      seen.lostRenewals += isKept ? 0 : 1;
    }
    expectNoneShownTwice();
    const report = JSON.stringify({ kills, ...seen, renewals: work.granted.refresh_token });
    if (process.env.GATEHOUSE_KILLS) process.stdout.write(`${report}\n`);
    for (const key of ['calls', 'logins', 'revoked', 'unlinked'] as const)
      expect(seen[key], report).toBeGreaterThan(0);
    expect(work.granted.refresh_token, report).toBeGreaterThan(0);
  },
  60_000 + kills * 20_000,
);
