import { describe, expect, it } from 'vitest';
import { codeReuse } from '../../../src/doctor/login/code-checks.ts';
import { spareSession } from '../../../src/doctor/login/second-session.ts';
import { type Session, spendRefreshToken } from '../../../src/doctor/login/session.ts';
import type { Subject } from '../../../src/doctor/subject.ts';
import { revocationCheck } from '../../../src/doctor/token/spending-checks.ts';
import { atGrant, expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import type { Fault } from '../support/server.ts';
import { subjectOf } from '../support/subject.ts';

const faults: FaultCase[] = [
  [
    'any code_verifier is taken',
    (server) => {
      server.rules.checksVerifier = false;
    },
    'LOGIN-VERIFIER',
    'fail',
    /^A code with another code_verifier was answered with tokens/,
  ],
  [
    'a code is exchanged twice',
    (server) => {
      server.rules.codesAreSingleUse = false;
    },
    'LOGIN-CODE-ONCE',
    'fail',
    /^The second redemption of a code was answered with tokens/,
  ],
  [
    'the second use of a code ends nothing',
    (server) => {
      server.rules.codeReuseRevokes = false;
    },
    'LOGIN-CODE-REVOKES',
    'warn',
    /still accepted after the code had come a second time/,
  ],
];

/** Drops a code at the first wrong redemption, as many servers do. */
const dropsCodes: Fault = (server) => {
  const dropped = new Set<string>();
  atGrant('authorization_code', (reply, { body }) => {
    const code = new URLSearchParams(body).get('code') ?? '';
    if (dropped.has(code)) return refusal('invalid_grant');
    if (reply.status === 400 && code.startsWith('code-')) dropped.add(code);
    return reply;
  })(server);
};

describe('a code', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('that is lost at its first wrong redemption is no fault; what cannot be told is unknown', async () => {
    const report = await examineActively(dropsCodes);
    expect(report.bad()).toEqual([]);
    expect(report.finding('LOGIN-VERIFIER').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE-REDIRECT').verdict).toBe('unknown');
    expect(report.finding('TOKEN-REVOKED').verdict).toBe('unknown');
    expect(report.finding('LOGIN-REUSE').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE-ONCE').verdict).toBe('pass');
  });

  it('ends the tokens of its first use, told by the refresh token where access tokens are not revoked', async () => {
    const report = await examineActively((server) => {
      server.rules.revocationCounts = false;
    });
    expect(report.finding('LOGIN-CODE-REVOKES')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('TOKEN-REVOKED'),
    });
  });
});

describe('the reuse of a code', () => {
  it('a code that comes again is watched by what the tokens of its first use are worth before and after', async () => {
    const { subject } = await subjectOf();
    expect(await subject.fact(codeReuse)).toMatchObject({
      kind: 'tried',
      again: { error: 'invalid_grant' },
      aliveBefore: true,
      aliveAfter: false,
    });
  });

  it('the refresh token tells where access tokens live on', async () => {
    const { subject } = await subjectOf((server) => {
      server.rules.revocationCounts = false;
    });
    expect(await subject.fact(codeReuse)).toMatchObject({ aliveAfter: true, isRefreshable: false });
  });

  async function openSpare(subject: Subject): Promise<Session> {
    const session = await subject.fact(spareSession);
    if (session.kind === 'missing') throw new Error(session.judgement.saw);
    return session;
  }

  it('a login whose access token was revoked is renewed for it, by a refresh token that was refused once if need be', async () => {
    const { subject } = await subjectOf();
    spendRefreshToken(await openSpare(subject));
    expect(await revocationCheck.judge(subject)).toMatchObject({ verdict: 'pass' });
    expect(await subject.fact(codeReuse)).toMatchObject({ aliveBefore: true, aliveAfter: false });
  });

  it('nothing is told by a refresh token that had not worked before', async () => {
    const { subject, server } = await subjectOf((sound) => {
      sound.rules.revocationCounts = false;
    });
    const session = await openSpare(subject);
    const token = session.held.refreshToken ?? '';
    await fetch(`${server.origin}/revoke`, { method: 'POST', body: new URLSearchParams({ token }) });
    const reuse = await subject.fact(codeReuse);
    expect(reuse).toMatchObject({ aliveBefore: true, aliveAfter: undefined });
    expect(reuse).not.toHaveProperty('isRefreshable');
  });
});
