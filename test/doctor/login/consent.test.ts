import { describe, expect, it } from 'vitest';
import { ClientError } from '../../../src/client/index.ts';
import { examineActively, headlessLogin } from '../support/login.ts';

describe('a login of the examination', () => {
  it('is skipped where nobody is there to log in; what needs no login is told all the same', async () => {
    const report = await examineActively(undefined, { login: {} });
    expect(report.finding('LOGIN-STATE')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('nobody is here'),
    });
    expect(report.finding('LOGIN-PKCE').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE').verdict).not.toBe('pass');
    expect(report.finding('TOKEN-ACCEPTED').verdict).not.toBe('pass');
  });

  it.each([
    ['does not come', 'login_timed_out'],
    ['says no', 'authorization_denied'],
  ] as const)('is unknown where the user %s, and the user is asked once', async (_what, reason) => {
    const login = headlessLogin({
      consent: async () => {
        throw new ClientError(reason, 'Nobody said yes.');
      },
    });
    const report = await examineActively(undefined, { login });
    expect(login.asked).toHaveLength(1);
    expect(report.finding('LOGIN-STATE')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('Nobody said yes.'),
    });
    expect(report.bad()).toEqual([]);
    const passed = report.findings.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
    expect(passed).not.toContain('LOGIN-REUSE');
    expect(passed).not.toContain('TOKEN-REVOKED');
  });

  it('asks the second user for fewer scopes only where there are several', async () => {
    const login = headlessLogin();
    await examineActively(
      (server) =>
        server.change('POST /mcp', (reply) => {
          const header = reply.headers?.['www-authenticate'];
          return header === undefined
            ? reply
            : {
                ...reply,
                headers: {
                  ...reply.headers,
                  'www-authenticate': String(header).replace(
                    'scope="notes:read"',
                    'scope="notes:read notes:write"',
                  ),
                },
              };
        }),
      { login },
    );
    expect(login.asked.map((url) => new URL(url).searchParams.get('scope'))).toEqual([
      'notes:read notes:write',
      'notes:read',
    ]);
  });
});
