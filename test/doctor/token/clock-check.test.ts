import { describe, expect, it } from 'vitest';
import { clockCheck, describeSkew } from '../../../src/doctor/token/clock-check.ts';
import { expectFound } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import { subjectOf } from '../support/subject.ts';

describe('the clocks', () => {
  it('of the authorization server is found ahead by the iat of its tokens', () =>
    expectFound([
      '',
      (server) => {
        server.rules.clockSkewSeconds = 94;
      },
      'TOKEN-CLOCK',
      'warn',
      /the clock of the authorization server \(iat, nbf\) is 9[3-5] s ahead of yours/,
    ]));

  it('of this machine is blamed where both servers agree with each other', async () => {
    const { subject } = await subjectOf((server) => {
      server.rules.clockSkewSeconds = -94;
      server.change('POST /mcp', (reply) => ({
        ...reply,
        headers: { ...reply.headers, date: new Date(Date.now() - 94_000).toUTCString() },
      }));
    });
    const judgement = await clockCheck.judge(subject);
    expect(judgement).toMatchObject({ verdict: 'warn', fix: expect.stringContaining('this machine') });
    expect(judgement.saw).toMatch(/Your clock is 9[3-6] s fast\.$/);
  });

  it('of the MCP server is told without a login, from its Date', async () => {
    const { subject } = await subjectOf(undefined, { passive: true, login: {} });
    expect(await clockCheck.judge(subject)).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('MCP server (Date)'),
    });
  });

  it('is not told from an answer that a cache kept', async () => {
    const { finding } = await examineActively(
      (server) => {
        server.change('POST /mcp', (reply) => ({ ...reply, headers: { ...reply.headers, age: '10' } }));
        server.change('POST /token', (reply) =>
          reply.status === undefined
            ? { ...reply, json: { ...(reply.json as object), access_token: 'opaque' } }
            : reply,
        );
      },
      { only: ['TOKEN-CLOCK'] },
    );
    expect(finding('TOKEN-CLOCK').verdict).toBe('unknown');
  });

  it.each([
    [0, 'the clock of x agrees with yours'],
    [3, 'the clock of x is 3 s ahead of yours'],
    [-94, 'the clock of x is 94 s behind yours'],
  ])('with %d s between them are described', (ahead, words) => {
    expect(describeSkew('x', ahead)).toBe(words);
  });
});
