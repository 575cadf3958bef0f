// Parallel refreshes and redemptions against real server processes, over and over (flows of
// src/authorization-server/endpoints/token-endpoint.ts and src/authorization-server/engine/write-set.ts).
// The full number of rounds for each number of requests at once is a thousand:
//   GATEHOUSE_ROUNDS=1000 npx vitest run test/flows/token/rounds
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obtainTokens, redeem, refresh, register, type Tokens, tryAccess } from '../../support/oauth.ts';
import { type Served, serveGatehouse } from '../../support/served.ts';
import { createVisitor } from '../../support/visitor.ts';
import { countFamilies } from './families.ts';
import {
  countStatuses,
  expectRefused,
  expectTokens,
  generousLimits,
  nodePort,
  obtainCode,
  serveAlongside,
} from './subject.ts';

const rounds = Number(process.env.GATEHOUSE_ROUNDS || 3);
const parallel = [2, 5, 20, 50];
const timeoutMs = 120_000 + rounds * 5_000;

let served: Served;
let other: Awaited<ReturnType<typeof serveAlongside>>;
beforeAll(async () => {
  served = await serveGatehouse([], { limits: generousLimits, log: { level: 'silent' }, ...nodePort });
  other = await serveAlongside(served, join(served.folder, 'gatehouse.json'));
});
afterAll(async () => {
  await other.program.stop();
  await served.stop();
});

/** Asks the servers in turns, all at once. */
function askAll(urls: readonly string[], times: number, ask: (url: string) => Promise<Response>) {
  return Promise.all(Array.from({ length: times }, (_, at) => ask(urls[at % urls.length] ?? '')));
}

/** Refreshes one login over and over, many times at once; everybody has to get the one answer. */
async function refreshRounds(urls: readonly string[], times: number): Promise<void> {
  const { clientId, tokens } = await obtainTokens(served);
  let current: Tokens = tokens;
  for (let round = 0; round < rounds; round++) {
    const responses = await askAll(urls, times, (url) => refresh(url, clientId, current.refresh_token));
    const answers = await Promise.all(responses.map(expectTokens));
    expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
    expect(new Set(answers.map(({ access_token }) => access_token)).size).toBe(1);
    expect(answers[0]?.refresh_token).not.toBe(current.refresh_token);
    expect(await countFamilies(served.folder, clientId)).toEqual({ grants: 1, heads: 1 });
    current = answers[0] ?? current;
    expect(await tryAccess(served.mcpUrl, current.access_token)).toBe(200);
  }
}

/** Redeems code after code, each many times at once; one gets tokens at most, and those end with the replays. */
async function redeemRounds(urls: readonly string[], times: number): Promise<void> {
  const clientId = (await register(served.url)).client_id;
  const visitor = createVisitor();
  for (let round = 0; round < rounds; round++) {
    const { flow, code } = await obtainCode(served, clientId, visitor);
    const responses = await askAll(urls, times, (url) => redeem(url, flow, code));
    expect(countStatuses(responses)).toEqual({ 200: 1, 400: times - 1 });
    for (const response of responses) {
      if (response.status !== 200) await expectRefused(response, 'invalid_grant');
      else {
        const won = await expectTokens(response);
        expect(await tryAccess(served.mcpUrl, won.access_token)).toBe(401);
        await expectRefused(await refresh(served.url, clientId, won.refresh_token), 'invalid_grant');
      }
    }
    expect(await countFamilies(served.folder, clientId)).toEqual({ grants: 0, heads: 0 });
  }
  // Nobody is locked out: the client logs in again at once.
  const { flow, code } = await obtainCode(served, clientId, visitor);
  const tokens = await expectTokens(await redeem(served.url, flow, code));
  expect(await tryAccess(served.mcpUrl, tokens.access_token)).toBe(200);
}

describe.each([
  ['one server process', () => [served.url]],
  ['two server processes on one database', () => [served.url, other.url]],
] as const)('%s', (_what, urls) => {
  it.each(parallel)(
    `gives %i parallel refreshes the same answer, in ${rounds} rounds, and there is one family (T-043)`,
    (times) => refreshRounds(urls(), times),
    timeoutMs,
  );

  it.each(parallel)(
    `gives one of %i parallel redemptions tokens, in ${rounds} rounds, and leaves no family (T-036, T-032)`,
    (times) => redeemRounds(urls(), times),
    timeoutMs,
  );
});
