import { describe, expect, it } from 'vitest';
import { scopeRefusal, stepUp } from '../../../src/doctor/token/scope-checks.ts';
import { expectFound, type FaultCase, withReadOnlyTools } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';
import type { Fault, TestServer } from '../support/server.ts';
import { subjectOf } from '../support/subject.ts';

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

describe('a refusal for a scope', () => {
  /** The first challenge names both scopes, so that a login has all of them. */
  function namesAll(server: TestServer): void {
    withReadOnlyTools(server);
    server.change('POST /mcp', (reply) =>
      reply.status === 401
        ? {
            ...reply,
            headers: {
              ...reply.headers,
              'www-authenticate': String(reply.headers?.['www-authenticate']).replace(
                'notes:read',
                'notes:read notes:write',
              ),
            },
          }
        : reply,
    );
  }

  const scopesAsked = (asked: readonly string[]) =>
    asked.map((url) => new URL(url).searchParams.get('scope'));

  describe('an operation beyond the token', () => {
    it('met by the first login makes the second ask for the union', async () => {
      const login = headlessLogin();
      const { subject } = await subjectOf(withReadOnlyTools, { login });
      expect(await subject.fact(scopeRefusal)).toMatchObject({ kind: 'refused', by: 'first' });
      expect(await subject.fact(stepUp)).toEqual({
        kind: 'tried',
        operation: 'tools/call write_note',
        scopes: ['notes:read', 'notes:write'],
      });
      expect(scopesAsked(login.asked)).toEqual(['notes:read', 'notes:read notes:write']);
    });

    it('is looked for with fewer scopes where the first login has all', async () => {
      const login = headlessLogin();
      const { subject } = await subjectOf(namesAll, { login });
      expect(await subject.fact(scopeRefusal)).toMatchObject({
        kind: 'refused',
        by: 'second',
        held: ['notes:read'],
      });
      expect(await subject.fact(stepUp)).toMatchObject({
        kind: 'tried',
        scopes: ['notes:read', 'notes:write'],
      });
      expect(scopesAsked(login.asked)).toEqual(['notes:read notes:write', 'notes:read']);
    });

    it('is not found where nothing harmless is refused', async () => {
      const { subject } = await subjectOf();
      expect(await subject.fact(scopeRefusal)).toMatchObject({
        kind: 'none',
        judgement: { verdict: 'skip' },
      });
      expect(await subject.fact(stepUp)).toMatchObject({ kind: 'untried', judgement: { verdict: 'skip' } });
    });
  });
});
