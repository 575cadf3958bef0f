import { describe, expect, it } from 'vitest';
import { firstRefresh, parallelRefresh, reuse } from '../../../src/doctor/login/refreshes.ts';
import { firstSession } from '../../../src/doctor/login/session.ts';
import { headlessLogin } from '../support/login.ts';
import { subjectOf } from '../support/subject.ts';

describe('the refreshes of the first login', () => {
  it('name the resource each time (A7-01)', async () => {
    const { subject, server } = await subjectOf();
    await subject.fact(firstRefresh);
    await subject.fact(parallelRefresh);
    const named = server.requests
      .filter(({ body }) => body.includes('grant_type=refresh_token'))
      .map(({ body }) => new URLSearchParams(body).get('resource'));
    expect(named).toEqual([server.url, server.url]);
  });

  it('give their latest tokens to the login, so that the next step works', async () => {
    const { subject } = await subjectOf();
    const session = await subject.fact(firstSession);
    if (session.kind === 'missing') throw new Error(session.judgement.saw);
    const seen = new Set([session.held.refreshToken]);
    await subject.fact(firstRefresh);
    seen.add(session.held.refreshToken);
    await subject.fact(parallelRefresh);
    seen.add(session.held.refreshToken);
    expect(seen.size).toBe(3);
  });

  it('try the used token until it is refused, and the newest after that', async () => {
    const login = headlessLogin({ reuseAfterSeconds: [0, 1.3, 20] });
    const { subject } = await subjectOf(
      (server) => {
        server.rules.refreshGraceMs = 1200;
      },
      { login },
    );
    const step = await subject.fact(reuse);
    expect(step).toMatchObject({
      kind: 'done',
      refusal: { error: 'invalid_grant' },
      latest: { error: 'invalid_grant' },
    });
    if (step.kind === 'undone') return;
    expect(step.takenUntil).toBeLessThan(1.2);
    expect(step.refusedAfter).toBeGreaterThan(1.2);
    expect(step.refusedAfter).toBeLessThan(10);
  });

  it('use the newer token before the used one, which some servers take until that', async () => {
    const { subject, server } = await subjectOf();
    expect(await subject.fact(reuse)).toMatchObject({ kind: 'done' });
    const redeemed = server.requests
      .filter(({ body }) => body.includes('grant_type=refresh_token'))
      .map(({ body }) => new URLSearchParams(body).get('refresh_token'));
    expect(redeemed[2]).toBe(redeemed[0]);
    expect(redeemed[1]).not.toBe(redeemed[0]);
  });

  it('are not tried where there is no refresh token, or where it is never rotated', async () => {
    const without = await subjectOf((server) => {
      server.rules.issuesRefreshTokens = false;
    });
    expect(await without.subject.fact(reuse)).toMatchObject({
      judgement: { because: 'LOGIN-REFRESH-TOKEN' },
    });
    const same = await subjectOf((server) => {
      server.rules.rotatesRefreshTokens = false;
    });
    expect(await same.subject.fact(reuse)).toMatchObject({ judgement: { because: 'LOGIN-ROTATION' } });
  });
});
