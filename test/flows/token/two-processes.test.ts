import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, redeem, refresh, tryAccess } from '../../support/oauth.ts';
import {
  countStatuses,
  expectRefused,
  expectTokens,
  generousLimits,
  nodePort,
  obtainCode,
  serveAlongside,
} from './subject.ts';

let gatehouse: RunningGatehouse;
let other: Awaited<ReturnType<typeof serveAlongside>>;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits, ...nodePort });
  other = await serveAlongside(gatehouse);
});
afterAll(async () => {
  await other.program.stop();
  await gatehouse.stop();
});

/** Asks both processes, in turns, all at once. */
function askBoth(count: number, ask: (url: string) => Promise<Response>): Promise<Response[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => ask(at % 2 === 0 ? gatehouse.url : other.url)));
}

describe('two processes on one database', () => {
  it('give a code redeemed at both to one client request, and end what it got (T-036)', async () => {
    for (let round = 0; round < 3; round++) {
      const { flow, code } = await obtainCode(gatehouse);
      const responses = await askBoth(60, (url) => redeem(url, flow, code));
      expect(countStatuses(responses)).toEqual({ 200: 1, 400: 59 });
      for (const response of responses) {
        if (response.status === 400) await expectRefused(response, 'invalid_grant');
        else {
          const tokens = await expectTokens(response);
          expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
          await expectRefused(await refresh(other.url, flow.clientId, tokens.refresh_token), 'invalid_grant');
        }
      }
    }
  });

  it('give the same answer to refreshes at both, and the family goes on (T-043)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    let current = tokens;
    for (let round = 0; round < 3; round++) {
      const responses = await askBoth(50, (url) => refresh(url, clientId, current.refresh_token));
      const answers = await Promise.all(responses.map(expectTokens));
      expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
      expect(new Set(answers.map(({ access_token }) => access_token)).size).toBe(1);
      current = answers[0] ?? tokens;
    }
    expect(await tryAccess(other.mcpUrl, current.access_token)).toBe(200);
  });

  it('both take wrong verifiers off the same five (T-035)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const wrong = { code_verifier: 'x'.repeat(43) };
    for (const response of await askBoth(5, (url) => redeem(url, flow, code, wrong)))
      await expectRefused(response, 'invalid_grant');
    await expectRefused(await redeem(gatehouse.url, flow, code), 'invalid_grant');
  });
});
