// Flows of src/authorization-server/endpoints/refresh-source.ts, src/authorization-server/endpoints/refresh-source.ts and
// src/authorization-server/endpoints/refresh-source.ts.
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, post, refresh, register, type Tokens, tryAccess } from '../../support/oauth.ts';
import { countStatuses, expectRefused, expectTokens, generousLimits } from './subject.ts';

let gatehouse: RunningGatehouse;
let strict: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
  strict = await startGatehouse({ limits: generousLimits, tokens: { refreshGraceSeconds: 0 } });
});
afterAll(async () => {
  await gatehouse.stop();
  await strict.stop();
});
afterEach(() => void vi.useRealTimers());

/** Moves the clock of the server, which is in this process. */
function moveClock(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

/** Whether both are the answer to the same rotation. */
function expectSame(a: Tokens, b: Tokens): void {
  expect([b.access_token, b.refresh_token, b.scope]).toEqual([a.access_token, a.refresh_token, a.scope]);
}

async function expectEnded(at: RunningGatehouse, clientId: string, tokens: Tokens): Promise<void> {
  await expectRefused(await refresh(at.url, clientId, tokens.refresh_token), 'invalid_grant');
  expect(await tryAccess(at.mcpUrl, tokens.access_token)).toBe(401);
}

describe('parallel refreshes', () => {
  it('all get the same answer, and the client stays logged in (T-043)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    let current = tokens;
    for (let round = 0; round < 3; round++) {
      const responses = await Promise.all(
        Array.from({ length: 50 }, () => refresh(gatehouse.url, clientId, current.refresh_token)),
      );
      const answers = await Promise.all(responses.map(expectTokens));
      expect(new Set(answers.map((answer) => answer.refresh_token)).size).toBe(1);
      expect(new Set(answers.map((answer) => answer.access_token)).size).toBe(1);
      current = answers[0] ?? tokens;
      expect(await tryAccess(gatehouse.mcpUrl, current.access_token)).toBe(200);
    }
  });

  it('without a grace window give tokens to at most one, and end the family (T-043)', async () => {
    const { clientId, tokens } = await obtainTokens(strict);
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => refresh(strict.url, clientId, tokens.refresh_token)),
    );
    expect(countStatuses(responses)).toEqual({ 200: 1, 400: 49 });
    for (const response of responses) {
      if (response.status === 200) await expectEnded(strict, clientId, await expectTokens(response));
      else await expectRefused(response, 'invalid_grant');
    }
    await expectEnded(strict, clientId, tokens);
  });
});

describe('a used refresh token', () => {
  it('gives its first answer until the window is over, with what is left of its life; then the family ends (T-043, T-044)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const first = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    for (const [seconds, left] of [
      [60, 3540],
      [58, 3482],
    ] as const) {
      moveClock(seconds);
      const again = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
      expectSame(first, again);
      expect(Math.abs(again.expires_in - left)).toBeLessThanOrEqual(2);
    }
    moveClock(3);
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
    await expectEnded(gatehouse, clientId, first);
  });

  it('gives its first answer also where a second was over in the middle of it (T-043, T-165)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    let now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 400));
    try {
      const first = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
      for (const again of await Promise.all(
        [1, 2, 3].map(() => refresh(gatehouse.url, clientId, tokens.refresh_token)),
      ))
        expectSame(first, await expectTokens(again));
    } finally {
      clock.mockRestore();
    }
  });

  it('gives the same again and again, and the window does not grow with it (T-044)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const first = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    for (let use = 0; use < 10; use++) {
      moveClock(11);
      expectSame(first, await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token)));
    }
    moveClock(11);
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
  });

  it('leads to the same place when its successor is used already: the family never forks (T-043)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const second = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    const third = await expectTokens(await refresh(gatehouse.url, clientId, second.refresh_token));
    const late = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    expectSame(second, late);
    expectSame(third, await expectTokens(await refresh(gatehouse.url, clientId, late.refresh_token)));
  });

  it('that has expired gives nothing though the window is open, and the family ends (T-044)', async () => {
    const short = await startGatehouse({
      limits: generousLimits,
      tokens: { refreshTokenSeconds: 60, refreshGraceSeconds: 120 },
    });
    try {
      moveClock(0);
      const { clientId, tokens } = await obtainTokens(short);
      const other = await register(short.url);
      const unused = await obtainTokens(short, { clientId });
      moveClock(59);
      const next = await expectTokens(await refresh(short.url, clientId, tokens.refresh_token));
      moveClock(2);
      await expectRefused(await refresh(short.url, clientId, unused.tokens.refresh_token), 'invalid_grant');
      expect(await tryAccess(short.mcpUrl, unused.tokens.access_token)).toBe(200);
      await expectRefused(await refresh(short.url, other.client_id, tokens.refresh_token), 'invalid_grant');
      expect(await tryAccess(short.mcpUrl, next.access_token)).toBe(200);
      await expectRefused(await refresh(short.url, clientId, tokens.refresh_token), 'invalid_grant');
      await expectEnded(short, clientId, next);
    } finally {
      await short.stop();
    }
  });

  it('gives nothing to another client or after a revocation (T-044)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const first = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    const other = await register(gatehouse.url);
    await expectRefused(await refresh(gatehouse.url, other.client_id, tokens.refresh_token), 'invalid_grant');
    expectSame(first, await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token)));
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: first.refresh_token });
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
  });

  it('gives nothing for another resource within the window, and the client stays logged in (T-042, T-044)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const next = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    for (const resource of ['https://elsewhere.example/mcp', `${gatehouse.url}/sse`])
      await expectRefused(
        await refresh(gatehouse.url, clientId, tokens.refresh_token, { resource }),
        'invalid_target',
      );
    expectSame(
      next,
      await expectTokens(
        await refresh(gatehouse.url, clientId, tokens.refresh_token, { resource: `${gatehouse.mcpUrl}/` }),
      ),
    );
    await expectTokens(await refresh(gatehouse.url, clientId, next.refresh_token));
  });

  it('sent by fifty while the grant is revoked leaves nothing that works (T-044)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const asked = Array.from({ length: 50 }, (_, at) =>
      at === 25
        ? post(`${gatehouse.url}/revoke`, { client_id: clientId, token: tokens.refresh_token })
        : refresh(gatehouse.url, clientId, tokens.refresh_token),
    );
    const answers = (await Promise.all(asked)).filter((_, at) => at !== 25);
    for (const answer of answers) {
      if (answer.status === 200) await expectEnded(gatehouse, clientId, await expectTokens(answer));
      else await expectRefused(answer, 'invalid_grant');
    }
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
  });

  it('gives nothing for other scopes within the window, and the client stays logged in (T-044)', async () => {
    const second = await obtainTokens(gatehouse);
    const answer = await expectTokens(
      await refresh(gatehouse.url, second.clientId, second.tokens.refresh_token),
    );
    const narrow = { scope: 'notes:read' };
    await expectRefused(
      await refresh(gatehouse.url, second.clientId, second.tokens.refresh_token, narrow),
      'invalid_scope',
    );
    await expectTokens(await refresh(gatehouse.url, second.clientId, answer.refresh_token));
  });

  it('without a grace window ends the family at its second use (T-040)', async () => {
    const { clientId, tokens } = await obtainTokens(strict);
    const next = await expectTokens(await refresh(strict.url, clientId, tokens.refresh_token));
    await expectRefused(await refresh(strict.url, clientId, tokens.refresh_token), 'invalid_grant');
    await expectEnded(strict, clientId, next);
  });

  it('stays used when the clock is set back or forward, and nothing fails (T-176)', async () => {
    for (const at of [gatehouse, strict]) {
      for (const jump of [-3600, -86_400, 3600, 315_360_000]) {
        const { clientId, tokens } = await obtainTokens(at);
        await expectTokens(await refresh(at.url, clientId, tokens.refresh_token));
        moveClock(jump);
        await expectRefused(await refresh(at.url, clientId, tokens.refresh_token), 'invalid_grant');
        expect(await tryAccess(at.mcpUrl, tokens.access_token)).toBe(401);
        vi.useRealTimers();
      }
    }
  });
});

describe.each([
  ['by the fast path', {}],
  // A page is served by the engine.
  ['by the engine', { origin: 'http://app.example' }],
])('a used refresh token that comes again %s', (_path, path: Record<string, string>) => {
  const [home, elsewhere] = ['192.0.2.1', '198.51.100.7'];

  async function start(repeatFromOtherAddress?: 'allow' | 'end'): Promise<RunningGatehouse> {
    const started = await startGatehouse({
      limits: generousLimits,
      trustedProxies: ['loopback'],
      ...(repeatFromOtherAddress && { tokens: { repeatFromOtherAddress } }),
    });
    onTestFinished(() => started.stop());
    return started;
  }

  const send = (at: RunningGatehouse, clientId: string, token: string, address: string, agent = 'app/1') =>
    post(
      `${at.url}/token`,
      { grant_type: 'refresh_token', refresh_token: token, client_id: clientId },
      { 'x-forwarded-for': address, 'user-agent': agent, ...path },
    );

  const noted = (at: RunningGatehouse, event: string): Record<string, string>[] =>
    at.log.map((line) => JSON.parse(line)).filter(({ audit }) => audit === event);

  it('is noted with whether address and client differ from the first use, and gets the first answer (FA-10, T-213)', async () => {
    const at = await start();
    const { clientId, tokens } = await obtainTokens(at);
    const first = await expectTokens(await send(at, clientId, tokens.refresh_token, home));
    expect(noted(at, 'token.repeated')).toEqual([]);
    expectSame(first, await expectTokens(await send(at, clientId, tokens.refresh_token, home)));
    expectSame(first, await expectTokens(await send(at, clientId, tokens.refresh_token, home, 'curl/8')));
    expectSame(first, await expectTokens(await send(at, clientId, tokens.refresh_token, elsewhere)));
    const who = { clientId, accountId: expect.stringMatching(/^acct_/) };
    expect(noted(at, 'token.repeated')).toMatchObject([
      { ...who, address: home, otherAddress: 'false', otherInstance: 'false', outcome: 'answered' },
      { ...who, address: home, otherAddress: 'false', otherInstance: 'true', outcome: 'answered' },
      { ...who, address: elsewhere, otherAddress: 'true', otherInstance: 'false', outcome: 'answered' },
    ]);
    expect(noted(at, 'token.reuse_detected')).toEqual([]);
    await expectTokens(await send(at, clientId, first.refresh_token, home));
  });

  it('ends the grant if it comes from another address and the operator wants that (FA-10, T-213)', async () => {
    const at = await start('end');
    const { clientId, tokens } = await obtainTokens(at);
    const first = await expectTokens(await send(at, clientId, tokens.refresh_token, home));
    expectSame(first, await expectTokens(await send(at, clientId, tokens.refresh_token, home, 'curl/8')));
    await expectRefused(await send(at, clientId, tokens.refresh_token, elsewhere), 'invalid_grant');
    expect(noted(at, 'token.repeated').at(-1)).toMatchObject({ otherAddress: 'true', outcome: 'ended' });
    expect(noted(at, 'token.reuse_detected')).toMatchObject([{ clientId, kind: 'RefreshToken' }]);
    await expectEnded(at, clientId, first);
  });

  it('many at once of one address logs nobody out, also if others would end the grant (FA-10, T-043, T-213)', async () => {
    const at = await start('end');
    const { clientId, tokens } = await obtainTokens(at);
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => send(at, clientId, tokens.refresh_token, home)),
    );
    const answers = await Promise.all(responses.map(expectTokens));
    expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1);
    expect(noted(at, 'token.repeated')).toHaveLength(19);
    expect(await tryAccess(at.mcpUrl, answers[0]?.access_token ?? '')).toBe(200);
  });
});
