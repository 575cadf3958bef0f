import { expect, it } from 'vitest';
import { codeReuse } from '../../../src/doctor/login/code-reuse.ts';
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
