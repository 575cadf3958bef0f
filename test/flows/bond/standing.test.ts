// Flows of src/authorization-server/bonds/link-standing.ts, src/upstream/links/link-check.ts and
// src/upstream/links/link-status.ts.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { refresh, type Tokens } from '../../support/oauth.ts';
import { faults } from '../../support/upstreams/front.ts';
import { startGithubLikeUpstream } from '../../support/upstreams/github-like.ts';
import { startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin } from '../../support/upstreams/people.ts';
import { expectRefused, expectTokens } from '../token/subject.ts';
import { age, arrive, onlyLink, type Scene, type StandIn, send, startScene } from './subject.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start<U extends StandIn>(work: U, over: object = {}, more: object = {}): Promise<Scene<U>> {
  const scene = await startScene(work, over, { mcp: { sessions: 'none' }, ...more });
  cleanups.push(scene.stop);
  return scene;
}

const greet = { method: 'tools/call', params: { name: 'greet', arguments: {} } };

/** The status of a call, and when to come back where it says so. */
async function call(mcpUrl: string, tokens: Tokens): Promise<[number, string | null]> {
  const response = await send(mcpUrl, tokens, greet);
  const text = await response.text();
  if (response.status === 200) expect(text).toContain('hello');
  return [response.status, response.headers.get('retry-after')];
}

describe('an upstream token that has just expired', () => {
  it('is renewed once for 200 parallel calls, and everybody gets an answer (T-090)', async () => {
    const scene = await start(await startOpenIdUpstream());
    const { tokens } = await arrive(scene);
    await age(scene, { expiredAgo: 1 });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => call(scene.gatehouse.mcpUrl, tokens)),
    );
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200]));
    expect(scene.work.asked.refresh_token).toBe(1);
    expect((await onlyLink(scene)).generation).toBe(2);
  });

  it('is renewed once also where two processes are asked (T-090)', async () => {
    const scene = await start(await startOpenIdUpstream());
    const another = await scene.serveAnother();
    cleanups.push(another.stop);
    const { tokens } = await arrive(scene);
    await age(scene, { expiredAgo: 1 });
    const ask = async ({ mcpUrl }: { mcpUrl: string }): Promise<number> => {
      for (let attempt = 1; ; attempt++) {
        const { status } = await send(mcpUrl, tokens, { method: 'ping' });
        // A busy machine may need longer than a request waits: its client comes back.
        if (status !== 503 || attempt === 5) return status;
      }
    };
    const statuses = await Promise.all(
      Array.from({ length: 200 }, (_, at) => ask(at % 2 === 0 ? scene.gatehouse : another)),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(scene.work.asked.refresh_token).toBe(1);
  });

  it('ends our grant with a challenge where the upstream says invalid_grant, and tells the operator (T-090)', async () => {
    const scene = await start(await startOpenIdUpstream());
    const { tokens, clientId } = await arrive(scene);
    scene.work.revokeTokensOf(lin.sub);
    await age(scene, { expiredAgo: 1 });
    const response = await send(scene.gatehouse.mcpUrl, tokens, greet);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"');
    await expectRefused(await refresh(scene.gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [row] = await scene.gatehouse.storage.audit.read({ event: 'upstream.ended', limit: 1 });
    expect(JSON.parse(row?.details ?? '{}')).toMatchObject({
      upstream: 'work',
      reason: 'grant_refused',
      grants: '1',
    });
  });
});

describe('a renewal that the upstream does not carry out', () => {
  it.each([
    ['interaction_required', faults.json(400, { error: 'interaction_required' }), 'person_required'],
    ['consent_required', faults.json(400, { error: 'consent_required' }), 'person_required'],
    ['an error of its own', faults.json(400, { error: 'canary' }), 'token_error'],
    ['a shape that is not read', faults.json(200, { result: { token: 'canary' } }), 'token_malformed'],
  ])(
    'but answers with %s ends the login of the app with invalid_grant, and the log says why (FA-29)',
    async (_what, fault, reason) => {
      const scene = await start(await startOpenIdUpstream());
      const { tokens, clientId } = await arrive(scene);
      await age(scene, { expiredAgo: 1 });
      scene.work.fault('/token', fault);
      await expectRefused(
        await refresh(scene.gatehouse.url, clientId, tokens.refresh_token),
        'invalid_grant',
      );
      expect((await call(scene.gatehouse.mcpUrl, tokens))[0]).toBe(401);
      const ended = () => scene.gatehouse.storage.audit.read({ event: 'upstream.ended', limit: 1 });
      await expect.poll(async () => (await ended()).length).toBe(1);
      expect(JSON.parse((await ended())[0]?.details ?? '{}')).toMatchObject({ upstream: 'work', reason });
      expect(scene.gatehouse.log.join('')).not.toContain('canary');
    },
  );
});

describe('an upstream that is down', () => {
  it.each([
    [
      'answers 503',
      (work: StandIn) => work.fault('/token', faults.page(503)),
      (work: StandIn) => work.behave(),
    ],
    ['is restarted', (work: StandIn) => work.down(), (work: StandIn) => work.up()],
  ])('and %s in the middle of calls logs nobody out (T-090)', async (_what, goDown, comeUp) => {
    const scene = await start(await startOpenIdUpstream());
    const { tokens, clientId } = await arrive(scene);
    await age(scene, { expiredAgo: 1 });
    await goDown(scene.work);
    const statuses: number[] = [];
    let isOver = false;
    const calling = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!isOver) statuses.push((await call(scene.gatehouse.mcpUrl, tokens))[0]);
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const refreshed = await expectTokens(await refresh(scene.gatehouse.url, clientId, tokens.refresh_token));
    expect((await onlyLink(scene)).unreachableSince).toBeTypeOf('number');
    await comeUp(scene.work);
    await expect.poll(async () => (await onlyLink(scene)).generation, { timeout: 10_000 }).toBe(2);
    isOver = true;
    await calling;
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await call(scene.gatehouse.mcpUrl, refreshed)).toEqual([200, null]);
    expect(scene.work.granted.refresh_token).toBe(1);
  });

  it('beyond the grace is 503 with a time and a sentence, for calls and refreshes, and back by itself (T-090)', async () => {
    const scene = await start(await startOpenIdUpstream(), { graceSeconds: 60 });
    const { tokens, clientId } = await arrive(scene);
    await age(scene, { expiredAgo: 100, unreachableFor: 61 });
    await scene.work.down();
    const response = await send(scene.gatehouse.mcpUrl, tokens, greet);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await response.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: expect.stringContaining('identity provider'),
    });
    const refused = await refresh(scene.gatehouse.url, clientId, tokens.refresh_token);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    await expectRefused(refused, 'temporarily_unavailable', 503);
    await scene.work.up();
    await expect
      .poll(async () => (await call(scene.gatehouse.mcpUrl, tokens))[0], { timeout: 15_000 })
      .toBe(200);
    // Another node may have asked the upstream when it was down.
    const back = await vi.waitFor(async () => {
      const answer = await refresh(scene.gatehouse.url, clientId, tokens.refresh_token);
      expect(answer.status).not.toBe(503);
      return answer;
    }, 15_000);
    await expectTokens(back);
  });
});

describe('an upstream that never renews', () => {
  it('is asked who it is, by and by and not by each call, and its no ends our grant (AS-2, A10-02)', async () => {
    const scene = await start(await startGithubLikeUpstream());
    const { tokens } = await arrive(scene);
    const asked = scene.work.count('/user');
    for (let times = 0; times < 10; times++)
      expect(await call(scene.gatehouse.mcpUrl, tokens)).toEqual([200, null]);
    expect(scene.work.count('/user')).toBe(asked);

    await age(scene, { provedAgo: 10_000 });
    const restarted = await scene.serveAnother();
    cleanups.push(restarted.stop);
    expect((await send(restarted.mcpUrl, tokens, { method: 'ping' })).status).not.toBe(401);
    expect(scene.work.count('/user')).toBe(asked + 1);

    scene.work.revokeTokensOf(lin.sub);
    await age(scene, { provedAgo: 10_000 });
    const again = await scene.serveAnother();
    cleanups.push(again.stop);
    expect((await send(again.mcpUrl, tokens, { method: 'ping' })).status).toBe(401);
    // Another process learns of it within a second.
    await expect.poll(() => call(scene.gatehouse.mcpUrl, tokens)).toEqual([401, null]);
  });

  it('and whose access token has ended keeps our grant for the time of the settings, no longer (AS-2)', async () => {
    const work = await startOpenIdUpstream();
    work.alter('/token', ({ refresh_token: _withheld, ...answer }) => answer);
    const scene = await start(work, { unverifiableSeconds: 5000 });
    const { tokens } = await arrive(scene);
    await age(scene, { expiredAgo: 100, provedAgo: 4900 });
    expect(await call(scene.gatehouse.mcpUrl, tokens)).toEqual([200, null]);
    const another = await scene.serveAnother();
    cleanups.push(another.stop);
    await age(scene, { provedAgo: 5000 });
    expect((await send(another.mcpUrl, tokens, { method: 'ping' })).status).toBe(401);
    // Another process learns of it within a second.
    await expect.poll(() => call(scene.gatehouse.mcpUrl, tokens)).toEqual([401, null]);
  });
});
