import { describe, expect, it } from 'vitest';
import {
  asksForToken,
  challengeChecks,
  challengeOnSuccess,
} from '../../../src/doctor/reach/challenge-checks.ts';
import { parseChallenges } from '../../../src/oauth/challenge.ts';
import { examined } from '../support/examine.ts';
import { type Fault, routeNames, startServer } from '../support/server.ts';
import { subjectOf } from '../support/view.ts';

const challenging =
  (line: string): Fault =>
  (server) =>
    server.change(routeNames.mcp, (reply) => ({ ...reply, headers: { 'www-authenticate': line } }));

async function judged(line: string) {
  return examined((await startServer({ fault: challenging(line) })).url, challengeChecks);
}

describe('a challenge', () => {
  it('asks for a token with Bearer or DPoP, and not with others', () => {
    const asks = (header: string): boolean => asksForToken({ challenges: parseChallenges(header) });
    expect(asks('bearer realm="x"')).toBe(true);
    expect(asks('Basic realm="x", DPoP')).toBe(true);
    expect(asks('Basic realm="x"')).toBe(false);
  });

  it('may offer several schemes', async () => {
    const found = await judged('DPoP algs="ES256", Bearer scope="a"');
    expect(found.finding('CHALLENGE-SCHEME')).toMatchObject({
      verdict: 'pass',
      saw: 'It offers dpop, bearer.',
    });
  });

  it('with an unknown scheme is no challenge that clients can answer', async () => {
    const found = await judged('Token realm="x"');
    expect(found.finding('CHALLENGE-SCHEME')).toMatchObject({
      verdict: 'fail',
      saw: 'It offers "token", and no Bearer.',
      fix: expect.stringContaining('Bearer resource_metadata='),
    });
  });

  it('is quoted in ASCII and at a length one can read (T-190)', async () => {
    const found = await judged(`Bearer realm="${'x'.repeat(4000)}"`);
    expect(found.finding('CHALLENGE-HEADER').saw.length).toBeLessThan(300);
  });
});

describe('a challenge on success', () => {
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
});
