import { expect, it } from 'vitest';
import { judgingMetadata } from '../../../src/doctor/issuer/judging.ts';
import { pass } from '../../../src/doctor/judgements.ts';
import { routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

it('metadata is judged where there is any, with the exchange that brought it as evidence', async () => {
  const judge = judgingMetadata(({ members }) => pass(String(members.issuer)));
  const server = await startServer();
  const subject = subjectOf(server.url);
  const judgement = await judge(subject);
  expect(judgement).toMatchObject({ verdict: 'pass', saw: server.origin });
  const [number = 0] = judgement.evidence ?? [];
  expect(subject.exchanges[number - 1]?.request.url).toBe(
    `${server.origin}/.well-known/oauth-authorization-server`,
  );

  const own = judgingMetadata(() => pass('', { evidence: [99] }));
  expect((await own(subject)).evidence).toEqual([99]);

  const without = await startServer({
    fault: ({ routes }) => {
      delete routes[routeNames.authorizationServer];
      delete routes[routeNames.openidConfiguration];
    },
  });
  expect(await judge(subjectOf(without.url))).toMatchObject({ verdict: 'skip' });
});
