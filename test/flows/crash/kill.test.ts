// What survives a `kill -9` (flows of src/authorization-server/engine/write-set.ts and src/storage/sqlite/connection/writer.ts).
// The full number of kills is three hundred: GATEHOUSE_KILLS=300 npx vitest run test/flows/crash/kill
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import {
  authorization,
  obtainTokens,
  post,
  redeem,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { countFamilies } from '../token/families.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from '../token/subject.ts';
import { findBroken, type Ledger } from './ledger.ts';
import { expectIntact, type Restartable, startRestartable } from './served.ts';

const kills = Number(process.env.GATEHOUSE_KILLS || 6);
/** How many send the same request at once, in turns. */
const parallel = [1, 2, 5, 20, 50];

const folder = testFolderForFile();
/** The person's browser: its login is kept over all kills. */
const visitor = createVisitor();
const ledger: Ledger = { clients: [], ended: [], live: [] };
let served: Restartable;
beforeAll(async () => {
  served = await startRestartable(folder, {
    limits: generousLimits,
    log: { level: 'silent' },
    dangerously: { trustOtherPorts: true },
  });
});
afterAll(() => served.stop());

interface Answer {
  status: number;
  body: string;
}
/** Answers, undefined where none arrived whole: the connection broke, or the server was not there. */
type Answers = (Answer | undefined)[];

interface Login {
  clientId: string;
  tokens: Tokens;
}

/** What was done in a round, with what its clients know of it: answers, or none. */
interface Round {
  redemption: { code: Awaited<ReturnType<typeof obtainCode>>; answers: Answers };
  refreshes: { login: Login; answers: Answers }[];
  revocation: { login: Login; acknowledged: boolean };
  registration: string | undefined;
}

const tokensOf = (answers: Answers): Tokens[] =>
  answers.flatMap((answer) => (answer?.status === 200 ? [JSON.parse(answer.body) as Tokens] : []));

/**
 * Does everything at once, each refresh and the redemption so many times, and kills the server.
 * @param afterAnswers how many answers have arrived when it is killed
 * @param pauseMs how much later that is
 */
async function killDuring(
  ready: { code: Round['redemption']['code']; refreshing: Login[]; revoking: Login },
  times: number,
  { afterAnswers, pauseMs }: { afterAnswers: number; pauseMs: number },
): Promise<Round> {
  const { at } = served;
  let left = afterAnswers;
  const due = Promise.withResolvers<void>();
  const arrived = (): void => {
    left--;
    if (left <= 0) due.resolve();
  };
  if (left === 0) due.resolve();
  const attempt = async (request: Promise<Response>): Promise<Answer | undefined> => {
    try {
      const response = await request;
      const answer = { status: response.status, body: await response.text() };
      arrived();
      return answer;
    } catch {
      return undefined;
    }
  };
  const { flow, code } = ready.code;
  const often = (ask: () => Promise<Response>): Promise<Answers> =>
    Promise.all(Array.from({ length: times }, () => attempt(ask())));
  const [redeemed, revoked, registration, refreshed] = await Promise.all([
    often(() => redeem(at.url, flow, code)),
    attempt(
      post(`${at.url}/revoke`, {
        client_id: ready.revoking.clientId,
        token: ready.revoking.tokens.refresh_token,
      }),
    ),
    register(at.url).then(
      ({ client_id }) => client_id,
      () => undefined,
    ),
    Promise.all(
      ready.refreshing.map((login) =>
        often(() => refresh(at.url, login.clientId, login.tokens.refresh_token)),
      ),
    ),
    due.promise.then(() => setTimeout(pauseMs)).then(() => served.kill()),
  ]);
  return {
    redemption: { code: ready.code, answers: redeemed },
    refreshes: ready.refreshing.map((login, at) => ({ login, answers: refreshed[at] ?? [] })),
    revocation: { login: ready.revoking, acknowledged: revoked?.status === 200 },
    registration,
  };
}

const familiesOf = (clientId: string) => countFamilies(folder, clientId);

const none = { grants: 0, heads: 0 };
const one = { grants: 1, heads: 1 };

/** One got tokens at most. Whoever was refused has ended them; whoever got no answer may have. */
async function checkRedemption({ code: { flow, code }, answers }: Round['redemption']): Promise<void> {
  const { at } = served;
  const won = tokensOf(answers);
  const refused = answers.filter((answer) => answer && answer.status !== 200);
  expect(won.length).toBeLessThanOrEqual(1);
  for (const answer of refused) expect(answer?.body).toContain('"invalid_grant"');
  const families = await familiesOf(flow.clientId);
  if (won.length > 0 && refused.length > 0) expect(families).toEqual(none);
  else if (won.length > 0) expect([none, one]).toContainEqual(families);
  for (const tokens of won)
    expect(await tryAccess(at.mcpUrl, tokens.access_token)).toBe(families.grants === 1 ? 200 : 401);
  const retry = await redeem(at.url, flow, code);
  if (retry.status === 200) {
    expect([won.length, refused.length]).toEqual([0, 0]);
    won.push(await expectTokens(retry));
    expect(await familiesOf(flow.clientId)).toEqual(one);
    await expectRefused(await redeem(at.url, flow, code), 'invalid_grant');
  } else await expectRefused(retry, 'invalid_grant');
  expect(await familiesOf(flow.clientId)).toEqual(none);
  ledger.ended.push(...won);
}

/** All got the same answer, whoever got none gets it now, and it leads on. */
async function checkRefresh({ login, answers }: Round['refreshes'][number]): Promise<Login> {
  const { at } = served;
  const got = tokensOf(answers);
  expect(answers.filter((answer) => answer && answer.status !== 200)).toEqual([]);
  expect(new Set(got.map(({ refresh_token }) => refresh_token)).size).toBeLessThanOrEqual(1);
  const again = await expectTokens(await refresh(at.url, login.clientId, login.tokens.refresh_token));
  for (const answer of got)
    expect([answer.access_token, answer.refresh_token]).toEqual([again.access_token, again.refresh_token]);
  expect(await tryAccess(at.mcpUrl, again.access_token)).toBe(200);
  expect(await familiesOf(login.clientId)).toEqual(one);
  const next = await expectTokens(await refresh(at.url, login.clientId, again.refresh_token));
  expect(await tryAccess(at.mcpUrl, next.access_token)).toBe(200);
  expect(await familiesOf(login.clientId)).toEqual(one);
  ledger.live.push(again.access_token, next.access_token);
  return { clientId: login.clientId, tokens: next };
}

async function checkRevocation({ login, acknowledged }: Round['revocation']): Promise<void> {
  const { at } = served;
  if (!acknowledged) return;
  expect(await tryAccess(at.mcpUrl, login.tokens.access_token)).toBe(401);
  await expectRefused(await refresh(at.url, login.clientId, login.tokens.refresh_token), 'invalid_grant');
  ledger.ended.push(login.tokens);
}

async function checkRegistration(clientId: string | undefined): Promise<void> {
  if (clientId === undefined) return;
  await expectRefused(await refresh(served.at.url, clientId, 'x'), 'invalid_grant');
  ledger.clients.push(clientId);
}

describe('a server killed at any moment', () => {
  it(
    `of redemption, refresh, registration or revocation loses nothing it said, and forks nothing, ${kills} times (T-164, T-165, T-166)`,
    async () => {
      const { at } = served;
      const seen = { refreshed: 0, lost: 0, redeemed: 0, revoked: 0, registered: 0 };
      let refreshing: Login[] = [];
      for (let login = 0; login < 3; login++) refreshing.push(await obtainTokens(at, { visitor }));
      for (let kill = 0; kill < kills; kill++) {
        const times = parallel[kill % parallel.length] ?? 1;
        const code = await obtainCode(at, undefined, visitor);
        const later = await obtainCode(at, undefined, visitor);
        const revoking = await obtainTokens(at, { visitor });
        const round = await killDuring({ code, refreshing, revoking }, times, {
          afterAnswers: (kill * 7) % (times * 4),
          pauseMs: (kill * 3) % 8,
        });
        expectIntact(folder);
        expect(findBroken(folder, ledger)).toEqual([]);
        expect(await served.restart()).toBeLessThan(10_000);

        await checkRedemption(round.redemption);
        await expectTokens(await redeem(at.url, later.flow, later.code));
        refreshing = [];
        for (const refreshed of round.refreshes) refreshing.push(await checkRefresh(refreshed));
        await checkRevocation(round.revocation);
        await checkRegistration(round.registration);
        const page = await visitor.open(authorization(at, later.flow.clientId).url);
        expect(page.html).toContain('/consent"');

        const answers = round.refreshes.flatMap((refreshed) => refreshed.answers);
        seen.refreshed += answers.filter((answer) => answer).length;
        seen.lost += answers.filter((answer) => !answer).length;
        seen.redeemed += tokensOf(round.redemption.answers).length;
        seen.revoked += round.revocation.acknowledged ? 1 : 0;
        seen.registered += round.registration ? 1 : 0;
      }
      expect(findBroken(folder, ledger)).toEqual([]);
      const report = JSON.stringify({ kills, ...seen, facts: Object.values(ledger).flat().length });
      if (process.env.GATEHOUSE_KILLS) process.stdout.write(`${report}\n`);
      expect(seen.refreshed, report).toBeGreaterThan(0);
      expect(seen.lost, report).toBeGreaterThan(0);
    },
    120_000 + kills * 20_000,
  );
});
