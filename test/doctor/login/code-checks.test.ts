import { describe, expect, it } from 'vitest';
import { atGrant, expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import type { Fault } from '../support/server.ts';

const faults: FaultCase[] = [
  [
    'any code_verifier is taken',
    (server) => {
      server.rules.checksVerifier = false;
    },
    'LOGIN-VERIFIER',
    'fail',
    /^A code with another code_verifier was answered with tokens/,
  ],
  [
    'a code is exchanged twice',
    (server) => {
      server.rules.codesAreSingleUse = false;
    },
    'LOGIN-CODE-ONCE',
    'fail',
    /^The second redemption of a code was answered with tokens/,
  ],
  [
    'the second use of a code ends nothing',
    (server) => {
      server.rules.codeReuseRevokes = false;
    },
    'LOGIN-CODE-REVOKES',
    'warn',
    /still accepted after the code had come a second time/,
  ],
];

/** Drops a code at the first wrong redemption, as many servers do. */
const dropsCodes: Fault = (server) => {
  const dropped = new Set<string>();
  atGrant('authorization_code', (reply, { body }) => {
    const code = new URLSearchParams(body).get('code') ?? '';
    if (dropped.has(code)) return refusal('invalid_grant');
    if (reply.status === 400 && code.startsWith('code-')) dropped.add(code);
    return reply;
  })(server);
};

describe('a code', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('that is lost at its first wrong redemption is no fault; what cannot be told is unknown', async () => {
    const report = await examineActively(dropsCodes);
    expect(report.bad()).toEqual([]);
    expect(report.finding('LOGIN-VERIFIER').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE-REDIRECT').verdict).toBe('unknown');
    expect(report.finding('TOKEN-REVOKED').verdict).toBe('unknown');
    expect(report.finding('LOGIN-REUSE').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE-ONCE').verdict).toBe('pass');
  });

  it('ends the tokens of its first use, told by the refresh token where access tokens are not revoked', async () => {
    const report = await examineActively((server) => {
      server.rules.revocationCounts = false;
    });
    expect(report.finding('LOGIN-CODE-REVOKES')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('TOKEN-REVOKED'),
    });
  });
});
