import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';

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
