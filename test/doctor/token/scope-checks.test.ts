import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase, withReadOnlyTools } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import type { Fault } from '../support/server.ts';

/** Changes the challenge of a call beyond the token's scopes. */
function challengedWith(challenge: string | undefined): Fault {
  return (server) => {
    withReadOnlyTools(server);
    server.change('POST /mcp', (reply) =>
      reply.status === 403
        ? { status: 403, headers: challenge === undefined ? {} : { 'www-authenticate': challenge } }
        : reply,
    );
  };
}

const faults: FaultCase[] = [
  [
    'it is answered with 401',
    (server) => {
      withReadOnlyTools(server);
      server.rules.insufficientScopeStatus = 401;
    },
    'TOKEN-SCOPE-CHALLENGE',
    'fail',
    /tools\/call write_note was answered with 401.*Clients take a 401 for an ended login/,
  ],
  [
    'it is not told what it needs',
    challengedWith(undefined),
    'TOKEN-SCOPE-CHALLENGE',
    'fail',
    /WWW-Authenticate missing.*No client can tell/,
  ],
  [
    'the challenge names no scopes',
    challengedWith('Bearer error="insufficient_scope"'),
    'TOKEN-SCOPE-CHALLENGE',
    'fail',
    /No client can tell what to ask for/,
  ],
  [
    'the challenge has no resource_metadata',
    challengedWith('Bearer error="insufficient_scope", scope="notes:write"'),
    'TOKEN-SCOPE-CHALLENGE',
    'warn',
    /It has no resource_metadata/,
  ],
  [
    'the scopes that were named do not help',
    (server) => {
      withReadOnlyTools(server);
      server.change('POST /mcp', (reply, { body }) =>
        body.includes('write_note') && reply.status !== 401
          ? {
              status: 403,
              headers: {
                'www-authenticate':
                  'Bearer error="insufficient_scope", scope="notes:write", resource_metadata="x:y"',
              },
            }
          : reply,
      );
    },
    'TOKEN-STEP-UP',
    'fail',
    /token for "notes:read notes:write", tools\/call write_note was refused again with 403.*would ask for ever/,
  ],
];

describe('a token with too few scopes', () => {
  it.each(faults)('is found badly served where %s', async (...fault) => expectFound(fault));

  it('passes where it is told what it needs, and that helps', async () => {
    const report = await examineActively(withReadOnlyTools);
    expect(report.bad()).toEqual([]);
    expect(report.finding('TOKEN-SCOPE-CHALLENGE').verdict).toBe('pass');
    expect(report.finding('TOKEN-STEP-UP').verdict).toBe('pass');
  });
});
