import { describe, expect, it } from 'vitest';
import { fetchWith, type Refusal } from '../../../src/doctor/token/access-check.ts';
import { expectFound, type FaultCase } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import { startServer } from '../support/server.ts';
import { subjectOf } from '../support/subject.ts';

const faults: FaultCase[] = [
  [
    'refuses tokens of its own authorization server',
    (server) =>
      server.change('POST /mcp', (reply, { headers }) =>
        headers.authorization === undefined
          ? reply
          : { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
      ),
    'TOKEN-ACCEPTED',
    'fail',
    /refused, with "Bearer error=\\"invalid_token\\"", a token that its authorization server .* issued for it \(aud "http/,
  ],
  [
    'never sees the token, which is lost on the way',
    (server) =>
      server.change('POST /mcp', (reply, { headers }) =>
        headers.authorization === undefined
          ? reply
          : { status: 401, headers: { 'www-authenticate': 'Bearer scope="notes"' } },
      ),
    'TOKEN-ACCEPTED',
    'fail',
    /without an error, as if no token had been sent/,
  ],
  [
    'wants more for a connection than it names',
    (server) =>
      server.change('POST /mcp', (reply, { headers }) =>
        headers.authorization === undefined ? reply : { status: 403 },
      ),
    'TOKEN-ACCEPTED',
    'fail',
    /answered 403 without WWW-Authenticate/,
  ],
];

describe('the MCP server', () => {
  it.each(faults)('is found wrong where it %s', async (...fault) => expectFound(fault));

  it('that gives no MCP answer leaves it unknown', async () => {
    const { finding } = await examineActively(
      (server) =>
        server.change('POST /mcp', (reply, { headers }) =>
          headers.authorization === undefined ? reply : { status: 500, text: 'oops' },
        ),
      { only: ['TOKEN-ACCEPTED'] },
    );
    expect(finding('TOKEN-ACCEPTED').verdict).toBe('unknown');
  });
});

describe('the fetch with a token', () => {
  it('gives it to the MCP server only, and tells of refusals with their exchange (A7-05)', async () => {
    const { subject, server } = await subjectOf();
    const other = await startServer();
    const refusals: Refusal[] = [];
    const fetch = fetchWith(subject, 'at-1', (refusal) => refusals.push(refusal));
    await (await fetch(server.url, { method: 'POST', body: '{}' })).text();
    await (await fetch(other.url, { method: 'POST', body: '{}' })).text();
    expect(other.requests.at(-1)?.headers.authorization).toBeUndefined();
    expect(refusals.map(({ status, exchange }) => [status, exchange])).toEqual([
      [401, 1],
      [401, 2],
    ]);
    expect(refusals[0]?.challenge).toContain('error="invalid_token"');
  });
});

describe('the session', () => {
  const faults: FaultCase[] = [
    [
      'breaks the server',
      (server) => {
        server.rules.staleSessionStatus = 500;
      },
      'TOKEN-SESSION',
      'fail',
      /does not exist was answered with 500/,
    ],
    [
      'is answered with 400',
      (server) => {
        server.rules.staleSessionStatus = 400;
      },
      'TOKEN-SESSION',
      'warn',
      /does not exist was answered with 400/,
    ],
  ];

  describe('a session that does not exist', () => {
    it.each(faults)('is found wrong where it %s', async (...fault) => expectFound(fault));

    it('is skipped where the server gives out none', async () => {
      const { finding } = await examineActively(
        (server) =>
          server.change('POST /mcp', ({ headers: { 'mcp-session-id': _, ...headers } = {}, ...reply }) => ({
            ...reply,
            headers,
          })),
        { only: ['TOKEN-SESSION'] },
      );
      expect(finding('TOKEN-SESSION').verdict).toBe('skip');
    });

    it('leaves no session behind', async () => {
      const { server } = await examineActively(undefined, { only: ['TOKEN-SESSION'] });
      expect(server.asked()).toContain('DELETE /mcp');
    });
  });
});
