import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';

const faults: FaultCase[] = [
  [
    'is accepted all the same',
    (server) => {
      server.rules.revocationCounts = false;
    },
    'TOKEN-REVOKED',
    'warn',
    /answered with 200, but the token was still accepted 0\.\d s later/,
  ],
  [
    'cannot be revoked by a public client',
    (server) => server.change('POST /revoke', () => refusal('invalid_client', 401)),
    'TOKEN-REVOKED',
    'fail',
    /answered with 401, "invalid_client"/,
  ],
];

describe('a revoked token', () => {
  it.each(faults)('is found where it %s', async (...fault) => expectFound(fault));

  it('is timed until it is refused', async () => {
    const login = headlessLogin({ revokedAfterSeconds: [0, 0.1, 0.3, 1] });
    const { finding } = await examineActively(
      (server) => {
        server.rules.revocationCounts = false;
        server.change('POST /revoke', (reply) => {
          setTimeout(() => {
            server.rules.revocationCounts = true;
          }, 150);
          return reply;
        });
      },
      { only: ['TOKEN-REVOKED'], login },
    );
    expect(finding('TOKEN-REVOKED').verdict).toBe('pass');
    const waited = Number(/refused (\d+) ms after/.exec(finding('TOKEN-REVOKED').saw)?.[1]);
    expect(waited).toBeGreaterThan(140);
    expect(waited).toBeLessThan(3000);
  });

  it('is skipped where access tokens cannot be revoked', async () => {
    const only = ['TOKEN-REVOKED'];
    const none = await examineActively(
      (server) =>
        server.publish('GET /.well-known/oauth-authorization-server', { revocation_endpoint: undefined }),
      { only },
    );
    expect(none.finding('TOKEN-REVOKED').verdict).toBe('skip');
    const unsupported = await examineActively(
      (server) => server.change('POST /revoke', () => refusal('unsupported_token_type')),
      { only },
    );
    expect(unsupported.finding('TOKEN-REVOKED')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('unsupported_token_type'),
    });
  });
});
