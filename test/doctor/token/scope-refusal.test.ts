import { describe, expect, it } from 'vitest';
import { scopeRefusal, stepUp } from '../../../src/doctor/token/scope-refusal.ts';
import { withReadOnlyTools } from '../support/active-faults.ts';
import { headlessLogin } from '../support/login.ts';
import type { TestServer } from '../support/server.ts';
import { subjectOf } from '../support/subject.ts';

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

const scopesAsked = (asked: readonly string[]) => asked.map((url) => new URL(url).searchParams.get('scope'));

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
    expect(await subject.fact(scopeRefusal)).toMatchObject({ kind: 'none', judgement: { verdict: 'skip' } });
    expect(await subject.fact(stepUp)).toMatchObject({ kind: 'untried', judgement: { verdict: 'skip' } });
  });
});
