import { expect, it } from 'vitest';
import { challengeOnSuccess } from '../../../src/doctor/reach/challenge-on-success.ts';
import { startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

it('what succeeded so far is looked back at, and nothing is asked for it', async () => {
  const server = await startServer({
    fault: ({ routes }) => {
      routes['GET /a'] = () => ({ text: 'fine' });
      routes['GET /b'] = () => ({ text: 'odd', headers: { 'www-authenticate': 'Bearer' } });
    },
  });
  const subject = subjectOf(server.url);
  expect(await challengeOnSuccess.judge(subject)).toMatchObject({ verdict: 'skip' });
  await (await subject.context.fetch(`${server.origin}/a`)).text();
  expect(await challengeOnSuccess.judge(subject)).toMatchObject({ verdict: 'pass' });
  await (await subject.context.fetch(`${server.origin}/b`)).text();
  expect(await challengeOnSuccess.judge(subject)).toMatchObject({ verdict: 'warn', evidence: [2] });
  expect(server.requests).toHaveLength(2);
});
