import { describe, expect, it } from 'vitest';
import { firstRefresh, parallelRefresh, reuse } from '../../../src/doctor/login/refresh-checks.ts';
import { firstSession } from '../../../src/doctor/login/session.ts';
import { atGrant, expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';
import { subjectOf } from '../support/subject.ts';

const faults: FaultCase[] = [
  [
    'a refresh token is not redeemed',
    atGrant('refresh_token', () => refusal('invalid_grant')),
    'LOGIN-REFRESH',
    'fail',
    /A refresh right after the login was refused with status 400, "invalid_grant"/,
  ],
  [
    'refresh tokens are not rotated (AS-1)',
    (server) => {
      server.rules.rotatesRefreshTokens = false;
    },
    'LOGIN-ROTATION',
    'warn',
    /gave the same refresh token again/,
  ],
  [
    'reuse is not detected',
    (server) => {
      server.rules.detectsReuse = false;
    },
    'LOGIN-REUSE',
    'fail',
    /still redeemed \d\.?\d* seconds after its use, for new tokens/,
  ],
  [
    'a used refresh token gets tokens of its own for a while',
    ({ rules }) => {
      rules.refreshGraceMs = 60;
      rules.repeatsWithinGrace = false;
    },
    'LOGIN-REUSE',
    'warn',
    /got new tokens \d\.?\d* seconds after its use. The grace window ends between/,
  ],
  [
    'reuse is refused, but the login goes on',
    (server) => {
      const used = new Set<string>();
      server.rules.detectsReuse = false;
      atGrant('refresh_token', (reply, { body }) => {
        const token = new URLSearchParams(body).get('refresh_token') ?? '';
        if (used.has(token)) return refusal('invalid_grant');
        used.add(token);
        return reply;
      })(server);
    },
    'LOGIN-REUSE',
    'warn',
    /the newest refresh token of the login still works/,
  ],
];

describe('refreshing', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('measures the grace window by when the used token is refused', async () => {
    const login = headlessLogin({ reuseAfterSeconds: [0, 1.3] });
    const report = await examineActively(
      (server) => {
        server.rules.refreshGraceMs = 1200;
      },
      { login, only: ['LOGIN-REUSE'] },
    );
    expect(report.finding('LOGIN-REUSE')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringMatching(
        /^The grace window ends between (?:0|0\.\d|1|1\.1) and 1\.[3-9] seconds after the use/,
      ),
    });
  });

  it('takes a window that outlasts the wait for what it is: the same answer is no second login (T-043)', async () => {
    const report = await examineActively(
      (server) => {
        server.rules.refreshGraceMs = 120_000;
      },
      { only: ['LOGIN-REUSE'] },
    );
    expect(report.bad()).toEqual([]);
    const { verdict, saw, evidence = [] } = report.finding('LOGIN-REUSE');
    expect(verdict).toBe('unknown');
    expect(saw).toMatch(/the same access token and the same refresh token, for \d\.?\d* seconds at least/);
    const shown = evidence.map((number) => report.exchanges[number - 1]?.request);
    expect(shown.map((request) => request?.url)).toEqual(Array(3).fill(`${report.server.origin}/token`));
    for (const request of shown) expect(request?.body).toContain('grant_type=refresh_token');
  });

  it('says that there is no grace window', async () => {
    const report = await examineActively(
      (server) => {
        server.rules.refreshGraceMs = 0;
      },
      { only: ['LOGIN-REUSE'] },
    );
    expect(report.finding('LOGIN-REUSE')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('There is no grace window'),
    });
  });

  it('is rehearsed with 20 requests at once, which redeem one refresh token once (A9-05)', async () => {
    const report = await examineActively(undefined, { only: ['LOGIN-PARALLEL-REFRESH'] });
    expect(report.finding('LOGIN-PARALLEL-REFRESH')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('20 were served with 1 access token(s), by 1 request(s)'),
    });
  });
});

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
