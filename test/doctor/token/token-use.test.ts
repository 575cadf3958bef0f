import { expect, it } from 'vitest';
import { firstSession } from '../../../src/doctor/login/session.ts';
import { bearer, isTokenTaken, pingWith } from '../../../src/doctor/token/token-use.ts';
import { subjectOf } from '../support/subject.ts';

it('a token travels in the Authorization field, never in the URL (A8-01)', async () => {
  const { subject, server } = await subjectOf();
  await pingWith(subject, 'at-1');
  const sent = server.requests.at(-1);
  expect(sent?.headers.authorization).toBe(bearer('at-1').authorization);
  expect([...(sent?.query ?? [])]).toEqual([]);
});

it('a token is taken unless the server answers 401; a broken server tells nothing', async () => {
  const { subject } = await subjectOf();
  const session = await subject.fact(firstSession);
  if (session.kind === 'missing') throw new Error(session.judgement.saw);
  expect(await isTokenTaken(subject, session.held.accessToken)).toBe(true);
  expect(await isTokenTaken(subject, 'made-up')).toBe(false);
  const broken = await subjectOf((server) => server.change('POST /mcp', () => ({ status: 502 })));
  expect(await isTokenTaken(broken.subject, 'made-up')).toBeUndefined();
});
