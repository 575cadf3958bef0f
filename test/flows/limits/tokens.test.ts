// Flows of src/authorization-server/endpoint-limits/token-limit.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  obtainTokens,
  post,
  redeem,
  refresh,
  tryAccess,
} from '../../support/oauth.ts';
import { countStatuses, expectTokens, generousLimits } from '../token/subject.ts';

const grace = { email: 'grace@example.com', password: 'a compiler of one’s own' };

async function start(times: number, windowSeconds = 600): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({
    limits: { ...generousLimits, tokensPerGrant: { times, windowSeconds } },
  });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

describe('a client that asks for tokens without end', () => {
  it('is told to wait, loses nothing by it, and goes on with what it has', async () => {
    const gatehouse = await start(4, 8);
    const { clientId, tokens } = await obtainTokens(gatehouse);
    let current = tokens;
    for (let time = 0; time < 3; time++)
      current = await expectTokens(await refresh(gatehouse.url, clientId, current.refresh_token));
    const flow = authorization(gatehouse, clientId);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    const before = await countIssued(gatehouse.folder);

    const answers = [
      await refresh(gatehouse.url, clientId, current.refresh_token),
      await redeem(gatehouse.url, flow, code),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(429);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toEqual({
        error: 'temporarily_unavailable',
        error_description: expect.stringMatching(/^too many tokens were issued.*try again in \d+ seconds?$/),
      });
    }
    expect(await countIssued(gatehouse.folder)).toEqual(before);
    expect(await tryAccess(gatehouse.mcpUrl, current.access_token)).toBe(200);

    await sleep(Number(answers[0]?.headers.get('retry-after')) * 1000);
    await expectTokens(await refresh(gatehouse.url, clientId, current.refresh_token));
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });

  it('gets no more by asking many times at once', async () => {
    const gatehouse = await start(3);
    const first = await obtainTokens(gatehouse);
    const others = [];
    for (let flow = 0; flow < 6; flow++) {
      const request = authorization(gatehouse, first.clientId);
      others.push({ request, code: (await approve(request)).searchParams.get('code') ?? '' });
    }
    const answers = await Promise.all(
      others.map(({ request, code }) => redeem(gatehouse.url, request, code)),
    );
    expect(countStatuses(answers)).toEqual({ 200: 2, 429: 4 });
  });

  it('slows down no other client of the account, and no other account of the client', async () => {
    const gatehouse = await start(2);
    await gatehouse.administration.accounts.add(grace.email, grace.password);
    const stormy = await obtainTokens(gatehouse);
    const rotated = await expectTokens(
      await refresh(gatehouse.url, stormy.clientId, stormy.tokens.refresh_token),
    );
    expect((await refresh(gatehouse.url, stormy.clientId, rotated.refresh_token)).status).toBe(429);

    const otherClient = await obtainTokens(gatehouse, { person: ada });
    await expectTokens(await refresh(gatehouse.url, otherClient.clientId, otherClient.tokens.refresh_token));
    const otherAccount = await obtainTokens(gatehouse, { clientId: stormy.clientId, person: grace });
    await expectTokens(await refresh(gatehouse.url, stormy.clientId, otherAccount.tokens.refresh_token));
  });

  it('stands in the audit log once a window', async () => {
    const gatehouse = await start(1);
    const { clientId, tokens } = await obtainTokens(gatehouse);
    for (let time = 0; time < 20; time++)
      expect((await refresh(gatehouse.url, clientId, tokens.refresh_token)).status).toBe(429);
    const lines = gatehouse.log.filter((line) => line.includes('limit.reached'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ limit: 'tokensPerGrant', clientId }]);
    expect(gatehouse.log.filter((line) => line.includes('token.issued'))).toHaveLength(1);
  });
});

describe('an answer that is repeated within the grace window', () => {
  it('does not count, and is given beyond the limit too', async () => {
    const gatehouse = await start(3);
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const repeat = (token: string) => refresh(gatehouse.url, clientId, token);
    const second = await expectTokens(await repeat(tokens.refresh_token));
    for (let time = 0; time < 5; time++)
      expect((await expectTokens(await repeat(tokens.refresh_token))).access_token).toBe(second.access_token);
    const together = await Promise.all(Array.from({ length: 10 }, () => repeat(second.refresh_token)));
    expect(countStatuses(together)).toEqual({ 200: 10 });
    const third = await expectTokens(together[0] as Response);
    expect((await repeat(third.refresh_token)).status).toBe(429);
    expect((await expectTokens(await repeat(second.refresh_token))).access_token).toBe(third.access_token);
    expect((await post(`${gatehouse.url}/token`, {})).status).toBe(400);
  });
});
