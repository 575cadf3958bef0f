import { expect, it } from 'vitest';
import { codeReuse } from '../../../src/doctor/login/code-reuse.ts';
import { spareSession } from '../../../src/doctor/login/second-session.ts';
import { type Session, spendRefreshToken } from '../../../src/doctor/login/session.ts';
import type { Subject } from '../../../src/doctor/subject.ts';
import { revocationCheck } from '../../../src/doctor/token/revocation-check.ts';
import { subjectOf } from '../support/subject.ts';

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
