// What survives a `kill -9` (flows of src/authorization-server/engine/write-set.ts and src/storage/sqlite/writer.ts).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import {
  obtainTokens,
  post,
  redeem,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { expectRefused, expectTokens, obtainCode } from '../token/subject.ts';
import { expectIntact, type Restartable, startRestartable } from './served.ts';

const folder = testFolderForFile();
const rounds = 20;
let served: Restartable;
beforeAll(async () => {
  served = await startRestartable(folder);
});
afterAll(() => served.stop());

/** An answer that arrived whole, or nothing: the connection broke, or the server was not there. */
async function attempt(request: Promise<Response>): Promise<{ status: number; body: string } | undefined> {
  try {
    const response = await request;
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}

interface Login {
  clientId: string;
  tokens: Tokens;
}

/** What was done in a round, with what the client knows of it: an answer, or none. */
interface Round {
  redemption: { code: Awaited<ReturnType<typeof obtainCode>>; answer?: Tokens | undefined };
  refreshes: { login: Login; answer?: Tokens | undefined }[];
  revocation: { login: Login; acknowledged: boolean };
  registration: { clientId?: string | undefined };
}

const parse = (answer: { status: number; body: string } | undefined): Tokens | undefined =>
  answer?.status === 200 ? (JSON.parse(answer.body) as Tokens) : undefined;

/** Does everything at once and kills the server after some milliseconds. */
async function killDuring(
  ready: { code: Round['redemption']['code']; refreshing: Login[]; revoking: Login },
  afterMs: number,
): Promise<Round> {
  const { at } = served;
  const { flow, code } = ready.code;
  const [redeemed, revoked, registered, ...refreshed] = await Promise.all([
    attempt(redeem(at.url, flow, code)),
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
    ...ready.refreshing.map((login) => attempt(refresh(at.url, login.clientId, login.tokens.refresh_token))),
    new Promise<undefined>((resolve) => {
      setTimeout(() => void served.kill().then(() => resolve(undefined)), afterMs);
    }),
  ]);
  return {
    redemption: { code: ready.code, answer: parse(redeemed) },
    refreshes: ready.refreshing.map((login, at) => ({ login, answer: parse(refreshed[at]) })),
    revocation: { login: ready.revoking, acknowledged: revoked?.status === 200 },
    registration: { clientId: registered },
  };
}

async function checkRedemption({ code, answer }: Round['redemption']): Promise<void> {
  const { at } = served;
  if (answer) {
    expect(await tryAccess(at.mcpUrl, answer.access_token)).toBe(200);
    await expectTokens(await refresh(at.url, code.flow.clientId, answer.refresh_token));
    await expectRefused(await redeem(at.url, code.flow, code.code), 'invalid_grant');
    expect(await tryAccess(at.mcpUrl, answer.access_token)).toBe(401);
    return;
  }
  const retry = await redeem(at.url, code.flow, code.code);
  if (retry.status === 200) await expectTokens(retry);
  else await expectRefused(retry, 'invalid_grant');
}

async function checkRefresh({ login, answer }: Round['refreshes'][number]): Promise<Login> {
  const { at } = served;
  const again = await expectTokens(await refresh(at.url, login.clientId, login.tokens.refresh_token));
  if (answer) {
    expect(await tryAccess(at.mcpUrl, answer.access_token)).toBe(200);
    expect([again.access_token, again.refresh_token]).toEqual([answer.access_token, answer.refresh_token]);
  }
  const next = await expectTokens(await refresh(at.url, login.clientId, again.refresh_token));
  expect(await tryAccess(at.mcpUrl, next.access_token)).toBe(200);
  return { clientId: login.clientId, tokens: next };
}

describe('a server killed at any moment', () => {
  it(`of redemption, refresh, registration or revocation loses nothing it said, and forks nothing, ${rounds} times (T-164, T-165, T-166)`, async () => {
    const { at } = served;
    const seen = { redeemed: 0, refreshed: 0, revoked: 0, registered: 0, lost: 0 };
    let refreshing: Login[] = await Promise.all(Array.from({ length: 3 }, () => obtainTokens(at)));
    for (let round = 0; round < rounds; round++) {
      const [code, revoking] = await Promise.all([obtainCode(at), obtainTokens(at)]);
      const done = await killDuring({ code, refreshing, revoking }, (round * 37) % 60);
      expectIntact(folder);
      expect(await served.restart()).toBeLessThan(5000);
      await checkRedemption(done.redemption);
      refreshing = await Promise.all(done.refreshes.map(checkRefresh));
      const { login, acknowledged } = done.revocation;
      if (acknowledged) {
        expect(await tryAccess(at.mcpUrl, login.tokens.access_token)).toBe(401);
        await expectRefused(
          await refresh(at.url, login.clientId, login.tokens.refresh_token),
          'invalid_grant',
        );
      }
      const { clientId } = done.registration;
      if (clientId) await expectRefused(await refresh(at.url, clientId, 'x'), 'invalid_grant');
      seen.redeemed += done.redemption.answer ? 1 : 0;
      seen.refreshed += done.refreshes.filter(({ answer }) => answer).length;
      seen.revoked += acknowledged ? 1 : 0;
      seen.registered += clientId ? 1 : 0;
      seen.lost += done.refreshes.filter(({ answer }) => !answer).length;
    }
    expect(seen.refreshed, JSON.stringify(seen)).toBeGreaterThan(0);
    expect(seen.lost, JSON.stringify(seen)).toBeGreaterThan(0);
  }, 120_000);
});
